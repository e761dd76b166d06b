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
// At the limit of Options.Connections, new connections wait. To make room, the package closes connections that have had no request for a second, the
// longest idle first. A body must arrive within a minute, and a client must read each part of an answer within a minute, unless the handler sets
// other limits, as package serve/gate does. The package does not limit the size of a body. If a server is meant only for this machine, Local protects
// it from foreign web pages.
package listen
