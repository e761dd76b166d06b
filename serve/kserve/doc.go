// Package kserve serves models that take and return tensors over HTTP. The protocol is version 2 of KServe's Open Inference Protocol, which Triton
// Inference Server also uses. The package supports Triton's extensions for binary tensors, for classes, and for loading and unloading models, and has
// Triton's metrics.
//
//	m := kserve.NewMetrics("minilm")
//	h, err := kserve.Handle(g, kserve.Options{ // g is a *gate.Gate whose Options.Others contains "minilm"
//		Models:  map[string]kserve.Model{"minilm": kserve.Vectors(e)},
//		Metrics: m,
//		Next:    next, // for all other requests
//	})
//	if err != nil {
//		return err
//	}
//	return http.Serve(l, h)
//
// The function Vectors makes a Model from an Embedder, which computes vectors of texts. The function Pictures makes a Model from a Classifier. All
// inputs have the datatype BYTES. All models have the version 1.
package kserve
