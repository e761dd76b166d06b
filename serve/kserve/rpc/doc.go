// Package rpc serves the models of package kserve over gRPC, as the service inference.GRPCInferenceService of version 2 of KServe's Open
// Inference Protocol. Triton's clients use the same service.
//
//	h, err := kserve.Handle(g, options)
//	if err != nil {
//		return err
//	}
//	return listen.Serve(ctx, l, rpc.Handle(h, h), listen.Options{}) // HTTP and gRPC on one port
//
// Handle returns an http.Handler, so gRPC uses the same port, certificate, API keys and limits as HTTP. The package contains no generated code, so it
// does not conflict with the generated code of clients in the same program. Streams and Triton's calls for shared memory are not supported.
package rpc
