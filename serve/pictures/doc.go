// Package pictures serves models of package classify over HTTP: clients upload a picture to /classify and receive its classes.
//
//	h, err := pictures.Handle(g, pictures.Options{ // g is a *gate.Gate whose Options.Others contains "resnet50"
//		Models: map[string]*repository.Model[pictures.Model]{"resnet50": repository.Loaded[pictures.Model](m)},
//	})
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	return http.Serve(l, h)
//
// Pictures of all requests for a model wait in one bounded queue, and are classified in batches. The *Classifier that
// Handler.Classifier returns implements the interface kserve.Classifier.
package pictures
