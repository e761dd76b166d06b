// Package rendezvous lets the processes of one job meet, share what one of them brings, and learn
// of each other's end.
//
//	m, err := rendezvous.Join(ctx, rendezvous.Options{Address: "10.0.0.1:29500", Rank: 1, World: 4})
//	if missing, ok := errors.AsType[*rendezvous.MissingError](err); ok { ... } // missing.Ranks did not come
//	defer m.Leave()
//	bytes := m.Payload()        // the Options.Payload of rank 0
//	select { case <-m.Lost(): ... } // a process ended without Leave: m.Err() names its rank
//
// Rank 0 is where the others meet: it listens, they connect, all messages are lines of JSON. It
// is no store of values, it encrypts nothing, and trusts whoever connects: it is for the private
// network of one job, as the libraries are that jobs use it for.
package rendezvous
