// Package pictures serves a model of package classify over HTTP: clients upload a picture to /classify and receive its classes.
//
//	h, err := pictures.Handle(g, pictures.Options{Name: "resnet50", Model: m}) // g is a *gate.Gate that knows the name
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	return http.Serve(l, h)
//
// Pictures of all requests wait in one bounded queue, and are classified in batches. The Handler is also a kserve.Classifier.
package pictures
