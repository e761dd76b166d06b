// Package kserve serves models that take and return tensors, in version 2 of KServe's Open Inference Protocol, which is also the protocol of Triton
// Inference Server. The package implements it over HTTP, with Triton's extensions for binary tensors, for classes and for loading and unloading
// models, and with Triton's metrics.
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
// Vectors makes a Model from an Embedder, which computes vectors of texts. Pictures makes a Model from a Classifier. All inputs have the datatype
// BYTES. All models have the version 1.
package kserve
