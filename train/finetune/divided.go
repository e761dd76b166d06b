package finetune

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/rendezvous"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// divided reports whether each replica has only a part of the state of the optimizer: see Config.Zero.
func (r *replica) divided() bool { return r.config.Zero > 0 && r.world > 1 }

// divide divides parameters that have no memory yet, if it must.
func (r *replica) divide(p *nn.Params) error {
	if !r.divided() {
		return nil
	}
	size := 4
	if p.Activations() == dtype.BFloat16 {
		size = 2
	}
	return p.Divide(nn.Division{Rank: r.number, World: r.world, Bucket: max(r.bucket/size, 1)})
}

// memories returns the memory of the parameters of the replicas.
func (t *Trainer) memories(ctx context.Context) ([]*nn.Memory, error) {
	list := make([]*nn.Memory, len(t.replicas))
	for i, r := range t.replicas {
		err := tensor.Enqueue(ctx, r.stream, func(s *tensor.Scope) (err error) {
			list[i], err = r.subject.Params().Memory(s)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// updateParts updates the parts of the parameters that the replicas have, from the sums of derivatives, and copies them to the other replicas. Each part
// is copied while the next is updated.
func (t *Trainer) updateParts(ctx context.Context) error {
	norms := make([]*tensor.Tensor, len(t.replicas))
	err := t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return tensor.Enqueue(ctx, r.stream, func(s *tensor.Scope) error {
			all, err := r.opt.Measure(s)
			if err == nil {
				norms[r.local], err = tensor.Wrap(all, all.Len())
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := t.spread(ctx, norms, ranges{{0, t.world()}}); err != nil {
		return err
	}
	memories, err := t.memories(ctx)
	if err != nil {
		return err
	}
	values, masters := make([]*tensor.Tensor, len(memories)), make([]*tensor.Tensor, len(memories))
	for i, m := range memories {
		values[i] = m.Values
		if masters[i], err = tensor.Wrap(m.Master, m.Master.Len()); err != nil {
			return err
		}
	}
	if err := t.publish(ctx, values, rangesOf(memories[0])); err != nil {
		return err
	}
	return t.spread(ctx, masters, slices.DeleteFunc(rangesOf(memories[0]), func(x [2]int) bool { return x[0] >= memories[0].Vectors() }))
}

// publish takes a step of the optimizers, and copies new parameters.
func (t *Trainer) publish(ctx context.Context, values []*tensor.Tensor, list ranges) error {
	var e *exchange
	if t.sums.gather != nil {
		move, err := t.sums.gather(values)
		if err != nil {
			return err
		}
		e = t.sums.start(t, list, move)
	}
	err := t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return tensor.Enqueue(ctx, r.stream, func(s *tensor.Scope) error {
			return r.opt.StepEach(s, func(part int) {
				if e != nil {
					e.outs[r.local].complete(list[part][0], list[part][1])
				}
			})
		})
	})
	switch {
	case err != nil && e != nil:
		return errors.Join(err, e.abandon())
	case err != nil:
		return err
	case e != nil:
		return e.end()
	}
	return t.spread(ctx, values, list)
}

// spread copies the part of each process in ranges of tensors, of which each replica has one, to the others.
func (t *Trainer) spread(ctx context.Context, all []*tensor.Tensor, list ranges) error {
	if len(list) == 0 {
		return nil
	}
	x := &t.sums
	if x.gather == nil {
		for _, p := range list {
			var err error
			if all[0].DType() == dtype.BFloat16 {
				err = spread(ctx, t, brains(), extent{all, p[0], p[1]})
			} else {
				err = spread(ctx, t, singles(), extent{all, p[0], p[1]})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	move, err := x.gather(all)
	if err != nil {
		return err
	}
	var streams []*device.Stream
	for _, r := range t.replicas {
		streams = append(streams, r.stream)
	}
	errs := []error{after(x.streams, streams)}
	for _, p := range list {
		errs = append(errs, move(p[0], p[1]))
	}
	return errors.Join(append(errs, after(streams, x.streams))...)
}

// extent is a range of tensors, of which each replica has one and knows its part of the range.
type extent struct {
	all        []*tensor.Tensor
	begin, end int
}

// spread copies the parts to the other replicas through the host.
func spread[T float32 | dtype.BF16](ctx context.Context, t *Trainer, h host[T], x extent) error {
	all, err := tensor.SlicesOf[T](x.all...)
	if err != nil {
		return err
	}
	values := make([]T, x.end-x.begin)
	n := len(values) / t.world()
	err = t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		at := r.number * n
		return errors.Join(device.Download(r.stream, values[at:at+n], all[r.local].Slice(x.begin+at, x.begin+at+n)), r.stream.Synchronize(ctx))
	})
	if err == nil && t.team != nil {
		own := values[t.team.Rank*n : (t.team.Rank+1)*n]
		var lists [][]T
		if lists, err = h.swap(ctx, t.team, own, slices.Repeat([]int{n}, t.team.World)); err == nil {
			values = slices.Concat(lists...)
		}
	}
	if err != nil {
		return err
	}
	return t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return errors.Join(device.UploadTo(r.stream, all[r.local].Slice(x.begin, x.end), values), r.stream.Synchronize(ctx))
	})
}

// swap sends a list to the other processes, and returns the lists of all, which have the given lengths.
func (h host[T]) swap(ctx context.Context, g *team, own []T, lengths []int) ([][]T, error) {
	lists := make([][]T, g.World)
	most := (rendezvous.MaxExchange/g.World - 1) / h.size
	return lists, inChunks(lengths, most, func(at, n int) error {
		data := []byte{kindParts}
		for _, v := range own[min(at, len(own)):min(at+n, len(own))] {
			data = h.put(data, v)
		}
		text, err := g.exchange(ctx, data)
		if err != nil {
			return err
		}
		for rank, length := range lengths {
			size := max(min(n, length-at), 0) * h.size
			if len(text) < size {
				return fmt.Errorf("%w: %d bytes of rank %d, not %d", ErrRank, len(text), rank, size)
			}
			for i := 0; i < size; i += h.size {
				lists[rank] = append(lists[rank], h.get(text[i:]))
			}
			text = text[size:]
		}
		return nil
	})
}

// inChunks calls f with ranges of at most the given number of elements, for the longest of some lists.
func inChunks(lengths []int, most int, f func(at, n int) error) error {
	longest := slices.Max(lengths)
	for at := 0; at < longest; at += most {
		if err := f(at, min(most, longest-at)); err != nil {
			return err
		}
	}
	return nil
}

// collect returns a list of numbers of each replica of all processes, in the process that leads.
func (t *Trainer) collect(ctx context.Context, own [][]float32) (lists [][]float32, err error) {
	g := t.team
	if g == nil {
		return own, nil
	}
	all, err := g.tell(ctx, news{Length: len(own[0])})
	if err != nil {
		return nil, err
	}
	var lengths []int
	for _, x := range all {
		lengths = append(lengths, x.Length)
	}
	if t.sums.comms != nil {
		return t.sums.collect(ctx, own[0], lengths, t.lead())
	}
	return singles().swap(ctx, g, own[0], lengths)
}

// onAll returns what f returns for each replica of this process.
func onAll[T any](ctx context.Context, t *Trainer, f func(s *tensor.Scope, r *replica) (T, error)) ([]T, error) {
	list := make([]T, len(t.replicas))
	err := t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return tensor.RunOn(ctx, r.stream, func(s *tensor.Scope) (err error) {
			list[r.local], err = f(s, r)
			return err
		})
	})
	return list, err
}

// whole calls f in the process that leads. While f runs, Parameter.Values returns all values of all parameters there. All processes call whole.
func (t *Trainer) whole(ctx context.Context, f func() error) error {
	if t.divided() {
		forget, err := t.assemble(ctx)
		if err != nil {
			return err
		}
		defer forget()
	}
	if !t.lead() {
		return nil
	}
	return f()
}

// assemble makes Parameter.Values return all values of all parameters in the process that leads, until forget is called.
func (t *Trainer) assemble(ctx context.Context) (forget func(), err error) {
	memories, err := t.memories(ctx)
	if err != nil {
		return nil, err
	}
	m := memories[0]
	if !m.Divided() {
		return func() {}, nil
	}
	own, err := onAll(ctx, t, func(s *tensor.Scope, r *replica) ([]float32, error) { return memories[r.local].Masters(s) })
	if err != nil {
		return nil, err
	}
	lists, err := t.collect(ctx, own)
	if err != nil {
		return nil, err
	}
	if t.lead() {
		m.Assemble(lists)
	}
	return func() { m.Assemble(nil) }, nil
}

// learned returns the state of the whole optimizer, in the process that leads. All processes call learned.
func (t *Trainer) learned(ctx context.Context) (st train.State, err error) {
	if !t.divided() && !t.lead() {
		return st, nil
	}
	states, err := onAll(ctx, t, func(s *tensor.Scope, r *replica) (train.State, error) {
		if !r.divided() && r != t.replica {
			return train.State{}, nil
		}
		return r.opt.State(s)
	})
	if err != nil || !t.divided() {
		return states[0], err
	}
	moments, codes := make([][]float32, len(states)), make([][]float32, len(states))
	for i, x := range states {
		moments[i], codes[i] = x.Moments, packed32(x.Codes)
	}
	if moments, err = t.collect(ctx, moments); err != nil {
		return st, err
	}
	if codes, err = t.collect(ctx, codes); err != nil || !t.lead() {
		return st, err
	}
	shares := make([]train.State, t.world())
	for rank := range shares {
		shares[rank] = train.State{Steps: states[0].Steps, Moments: moments[rank], Codes: unpacked32(codes[rank])}
	}
	err = tensor.RunOn(ctx, t.stream, func(s *tensor.Scope) (err error) {
		st, err = t.opt.Join(s, shares)
		return err
	})
	return st, err
}

// packed32 returns bytes, of a multiple of four, as the bits of numbers.
func packed32(data []byte) (list []float32) {
	for ; len(data) > 0; data = data[4:] {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return list
}

// unpacked32 returns the bytes of packed32.
func unpacked32(list []float32) (data []byte) {
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}
