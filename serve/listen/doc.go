// Package listen serves HTTP to untrusted clients. It limits the number of connections, the time in which a request's header must arrive,
// and the time that answers may take after the server has been told to stop.
//
//	l, err := net.Listen("tcp", "localhost:8080")
//	if err != nil {
//		return err
//	}
//	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	return listen.Serve(ctx, l, handler, listen.Options{Drain: 30 * time.Second})
//
// If there are more connections than Options.Connections, the package closes those that have waited longest for a request. It does not
// limit the size of a body, the time in which a body must arrive, or the time in which a client must read an answer. Handlers must set
// these limits, as package serve/gate does.
package listen
