// Package listen serves HTTP to untrusted clients. It bounds the connections, the time in which a request's header arrives, and
// the time that answers take after the end of the server.
//
//	l, err := net.Listen("tcp", "localhost:8080")
//	if err != nil {
//		return err
//	}
//	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	return listen.Serve(ctx, l, handler, listen.Options{Drain: 30 * time.Second})
//
// If there are more connections than Options.Connections, those that have waited longest for a request are closed. The sizes of bodies, and
// the times in which they arrive and answers leave, are the handlers' limits: those of serve/gate.
package listen
