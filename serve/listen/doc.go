// Package listen serves HTTP to untrusted clients. It limits the number of connections, the time in which a request's header must arrive, and the
// time that answers may take after the server has been told to stop.
//
//	l, err := net.Listen("tcp", "localhost:8080")
//	if err != nil {
//		return err
//	}
//	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	return listen.Serve(ctx, l, handler, listen.Options{Delay: 5 * time.Second, Drain: 30 * time.Second})
//
// At the limit of Options.Connections, new connections wait, and the package closes those that have been idle for longest. A body must
// arrive within a minute, and a client must read each part of an answer within a minute, unless the handler sets other limits, as package serve/gate
// does. The package does not limit the size of a body. Local protects a server for this machine alone from foreign web pages.
package listen
