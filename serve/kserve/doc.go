// Package kserve serves models that take and return tensors in KServe's Open Inference Protocol, version 2, which Triton Inference Server
// and its clients speak, too: here over HTTP, with Triton's extensions for binary tensors and for classes. It counts what it does in
// Triton's metrics.
//
//	m := kserve.NewMetrics("minilm")
//	h, err := kserve.Handle(g, kserve.Options{ // g is a *gate.Gate that knows the names
//		Models:  map[string]kserve.Model{"minilm": kserve.Vectors(e)},
//		Metrics: m,
//		Next:    next, // for all other requests
//	})
//	if err != nil {
//		return err
//	}
//	return http.Serve(l, h)
//
// Vectors makes a Model from an Embedder, which computes vectors of texts, and Pictures makes one from a Classifier, which classifies
// pictures. Their inputs are texts or files, so all inputs have the datatype BYTES. Models have the version 1.
package kserve
