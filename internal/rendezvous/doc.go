// Package rendezvous lets the processes of a job meet, distributes a payload of one process to all, combines
// data of all processes, and detects processes that end.
//
//	m, err := rendezvous.Join(ctx, rendezvous.Options{Address: "10.0.0.1:29500", Rank: 1, World: 4, Secret: secret}, at)
//	if missing, ok := errors.AsType[*rendezvous.MissingError](err); ok { ... } // missing.Ranks did not join
//	defer m.Leave()
//	bytes := m.Payload()           // the Options.Payload of rank 0
//	sum, err := m.Exchange(ctx, numbers) // what Options.Combine makes of those of all processes
//	select { case <-m.Lost(): ... } // a process ended without Leave: m.Err() names its rank
//
// Rank 0 listens and the others connect to it. All messages are lines of JSON. Each side proves to the other
// that it knows the job's secret, without sending it. A connection that does not prove it is limited to ten
// seconds and four kilobytes, and gets no answer. Messages of members are bounded too, and no process waits
// for another that does not read.
//
// The package does not store values and encrypts nothing: whoever can read the network sees everything but
// the secret, and whoever can change the traffic can change the messages. It is meant for a network that only
// the job uses, like the libraries for which jobs use it.
package rendezvous
