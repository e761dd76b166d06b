package finetune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/rendezvous"
)

// ErrRank is the error of a training by several processes if another process fails. If that process or its machine ends, the error occurs
// within ten seconds and names its rank.
var ErrRank = errors.New("finetune: another process failed")

// ErrStopped is the error of a training by several processes if another process was interrupted.
var ErrStopped = errors.New("finetune: another process was interrupted")

// A Job describes processes that train together, each on one device. They find each other at the address of rank 0.
type Job struct {
	Rank    int    // of this process, from 0
	World   int    // the number of processes
	Address string // "host:port" of rank 0; NCCL also uses the port after it
	Listen  string // the address at which rank 0 listens, if it differs from Address; otherwise ""
	Secret  string // a text that only the processes of the job know; it may be empty only if all processes run on one machine
}

// silence is the time without a message after which a process counts as lost.
const silence = 8 * time.Second

// joinTime is the time in which all processes must join.
const joinTime = 10 * time.Minute

// NewRank is like New for a process of a job. All processes have the same Config, and share a file system with its files. Only rank 0 writes.
// The errors may also match ErrRank.
func NewRank(ctx context.Context, dev *device.Device, c Config, j Job) (*Trainer, error) {
	c = c.filled(j.World)
	if err := errors.Join(c.check(j.World), j.check()); err != nil {
		return nil, err
	}
	t := &Trainer{limit: limit{grace: grace}, replicas: []*replica{{number: j.Rank, world: j.World, bucket: bucketBytes, device: dev, config: &c}}, team: &team{Job: j}}
	t.replica = t.replicas[0]
	if err := t.enter(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// check returns what is wrong with a Job.
func (j Job) check() error {
	host, _, err := net.SplitHostPort(j.Address)
	switch {
	case j.World < 1 || j.Rank < 0 || j.Rank >= j.World:
		return fmt.Errorf("%w: there is no rank %d of %d", ErrConfig, j.Rank, j.World)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if ip := net.ParseIP(host); j.Secret == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: processes that meet at %s need a secret, so that no other program can join them", ErrConfig, j.Address)
	}
	return nil
}

// enter joins the job and loads what the training needs.
func (t *Trainer) enter(ctx context.Context) error {
	g := t.team
	joining, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	var err error
	g.member, err = rendezvous.Join(joining, rendezvous.Options{
		Address: g.Address, Rank: g.Rank, World: g.World, Listen: g.Listen, Secret: []byte(g.Secret), Silence: silence, Combine: combine,
	}, func() int64 { return 0 })
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRank, err)
	}
	own := news{}
	if err := t.open(); err != nil {
		own.Err = err.Error()
		_, _ = g.tell(ctx, own)
		return err
	}
	own.Training = fmt.Sprintf("%s, model %s, %s, zero %d, after step %d", t.training(), t.base, t.config.rule(), t.config.Zero, t.at.Step)
	all, err := g.tell(ctx, own)
	if err != nil {
		return err
	}
	for rank, x := range all {
		if first := all[0].Training; x.Training != first {
			return fmt.Errorf("%w: rank %d begins with the training of %s, rank 0 with that of %s: they need the same configuration and files", ErrConfig, rank, x.Training, first)
		}
	}
	if err := t.sums.open(t); err != nil {
		return err
	}
	return t.openResults()
}

// team is the processes of a training, for one of them.
type team struct {
	Job
	member *rendezvous.Member // nil before it has joined
	stop   bool               // a process was interrupted: the training ends before the next step
	ended  bool               // the training ended as it should
}

// news is what a process sends to the others.
type news struct {
	Training string          `json:",omitempty"` // that it begins
	Results  map[int]outcome `json:",omitempty"` // of packs, by their index in the step
	Eval     uint64          `json:",omitempty"` // of rank 0, the bits of a float64
	Length   int             `json:",omitempty"` // of a list that follows
	Stop     bool            `json:",omitempty"` // it was interrupted
	Err      string          `json:",omitempty"` // why it failed
}

// outcome is a result. JSON has no NaN, so the loss is the bits of a float64.
type outcome struct {
	Loss  uint64
	Right int
}

// tell sends news to the others, and returns the news of all processes by rank. It returns an error if one of them failed.
func (g *team) tell(ctx context.Context, own news) ([]news, error) {
	data, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	text, err := g.exchange(ctx, append([]byte{kindNews}, data...))
	if err != nil {
		return nil, err
	}
	var all []news
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRank, err)
	}
	if len(all) != g.World {
		return nil, fmt.Errorf("%w: %d processes and not %d answer", ErrRank, len(all), g.World)
	}
	for rank, x := range all {
		g.stop = g.stop || x.Stop
		if x.Err != "" && rank != g.Rank {
			err = errors.Join(err, fmt.Errorf("%w: rank %d: %s", ErrRank, rank, x.Err))
		}
	}
	return all, err
}

// exchange exchanges data. The end of ctx does not interrupt it: the processes end together, after a step.
func (g *team) exchange(ctx context.Context, data []byte) ([]byte, error) {
	text, err := g.member.Exchange(context.WithoutCancel(ctx), data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRank, err)
	}
	return text, nil
}

// share completes the results of the packs of a step with those of the other processes.
func (g *team) share(ctx context.Context, results []result, failed error) error {
	own := news{Results: map[int]outcome{}, Stop: ctx.Err() != nil}
	if failed != nil {
		own.Err = failed.Error()
	}
	for i := g.Rank; i < len(results); i += g.World {
		own.Results[i] = outcome{math.Float64bits(results[i].loss), results[i].right}
	}
	all, err := g.tell(ctx, own)
	if failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	for _, x := range all {
		for i, r := range x.Results {
			if i < 0 || i >= len(results) {
				return fmt.Errorf("%w: a result of pack %d of %d", ErrRank, i, len(results))
			}
			results[i] = result{math.Float64frombits(r.Loss), r.Right}
		}
	}
	return nil
}

// close leaves the job. If the training failed, the others get an error.
func (g *team) close() error {
	switch {
	case g == nil || g.member == nil:
		return nil
	case g.ended:
		return g.member.Leave()
	}
	g.member.Kill()
	return nil
}

// communicator joins NCCL's ranks. It gives up if a process is lost.
func (g *team) communicator(s *device.Stream) (*nccl.Comm, error) {
	ctx, cancel := context.WithTimeout(context.Background(), joinTime)
	defer cancel()
	go func() {
		select {
		case <-g.member.Lost():
			cancel()
		case <-ctx.Done():
		}
	}()
	at, err := next(g.Address)
	if err != nil {
		return nil, err
	}
	listen := g.Listen
	if listen != "" {
		if listen, err = next(listen); err != nil {
			return nil, err
		}
	}
	c, err := nccl.Join(ctx, s, nccl.Options{Address: at, Rank: g.Rank, World: g.World, Secret: g.Secret, Listen: listen, Silence: silence})
	if err != nil && g.member.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrRank, g.member.Err())
	}
	return c, err
}

// next returns an address with the next port.
func next(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1)), nil
}

// lead reports whether this process writes files.
func (t *Trainer) lead() bool { return t.team == nil || t.team.Rank == 0 }

// world returns the number of replicas in all processes.
func (t *Trainer) world() int {
	if t.team != nil {
		return t.team.World
	}
	return len(t.replicas)
}
