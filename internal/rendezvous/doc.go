// Package rendezvous lets the processes of one job meet, share what one of them brings, and learn
// of each other's end.
//
//	m, err := rendezvous.Join(ctx, rendezvous.Options{Address: "10.0.0.1:29500", Rank: 1, World: 4, Secret: secret}, at)
//	if missing, ok := errors.AsType[*rendezvous.MissingError](err); ok { ... } // missing.Ranks did not come
//	defer m.Leave()
//	bytes := m.Payload()           // what rank 0 brought (Options.Payload)
//	select { case <-m.Lost(): ... } // a process ended without Leave: m.Err() names its rank
//
// Rank 0 is where the others meet: it listens, they connect, all messages are lines of JSON. Each side
// proves to the other that it has the job's secret, without sending it. What connects and does not prove it
// gets ten seconds, four kilobytes and no answer; messages of members are bounded too, and no process
// waits for one that does not read.
//
// It is no store of values and encrypts nothing: who can read the network sees all but the secret, and who can
// change what passes can change it. It is for the network of one job, as the libraries are that jobs use it for.
package rendezvous
