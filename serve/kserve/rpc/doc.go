// Package rpc serves the models of package kserve over gRPC: the service inference.GRPCInferenceService of KServe's Open Inference
// Protocol, version 2, which Triton's clients speak, too.
//
//	h, err := kserve.Handle(g, options)
//	if err != nil {
//		return err
//	}
//	return listen.Serve(ctx, l, rpc.Handle(h, h), listen.Options{}) // HTTP and gRPC on one port
//
// The Handler is an http.Handler, so gRPC has the port, the certificate, the API keys and the limits of HTTP. Messages are encoded here and
// not by generated code, which would register the protocol's names for the whole program, and so exclude other clients of the protocol
// from it. Streams, and Triton's calls that manage models and shared memory, are not supported.
package rpc
