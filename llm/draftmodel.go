package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// ErrDraft is the error of a draft model whose vocabulary differs from the model's.
var ErrDraft = errors.New("llm: the draft model has other tokens")

// sameTokens returns ErrDraft unless the tokens that both tokenizers have are the same.
func sameTokens(of, draft *tokenizer.Tokenizer) error {
	for id := range int32(min(of.Size(), draft.Size())) {
		want, _ := of.Token(id)
		if got, _ := draft.Token(id); want != got {
			return fmt.Errorf("%w: token %d is %q and not %q", ErrDraft, id, got, want)
		}
	}
	return nil
}

// draftModel guesses the tokens that a smaller model would choose for a request. The random numbers are those of the choice that is guessed,
// so that both models often choose the same token.
type draftModel struct {
	network
	chunk      int // tokens of a text that are computed at once
	vocabulary int // of the model whose tokens are guessed
	owners     []*sequence
	computed   [][]int32 // of the text of each slot, the tokens that the cache has
}

// openDraft loads a draft model for texts with the given tokens.
func openDraft(dev *device.Device, path string, of *tokenizer.Tokenizer, o Options) (d *draftModel, err error) {
	f, err := OpenFiles(path)
	if err != nil {
		return nil, err
	}
	d = &draftModel{chunk: chunkGPU}
	if dev.Info().Kind == "cpu" {
		d.chunk = chunkCPU
	}
	if err = sameTokens(of, f.Tokenizer); err == nil {
		err = d.load(dev, f, loading{mapped: o.Map, interrupt: o.Interrupt})
	}
	if err = errors.Join(err, f.Weights.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), d.close())
	}
	return d, nil
}

// start allocates what guesses need: two rows for each text, since two tokens of a text may be new to the draft model.
func (d *draftModel) start(sequences, tokens, vocabulary int) (err error) {
	d.vocabulary, d.owners, d.computed = vocabulary, make([]*sequence, sequences), make([][]int32, sequences)
	rows := bucket(2 * sequences)
	if d.cache, err = d.model.NewCache(d.stream, llama.CacheOptions{Sequences: sequences, Tokens: tokens}); err != nil {
		return err
	}
	if d.sampler, err = newSampler(d.stream, rows, d.model.Vocabulary); err != nil {
		return err
	}
	if d.decoder, err = d.model.NewDecoder(d.cache, rows, d.sampler.choose); err != nil {
		return err
	}
	d.mailbox, err = newMailbox(d.stream, rows)
	return err
}

func (d *draftModel) reset() {
	clear(d.owners)
	clear(d.computed)
	if d.cache != nil {
		d.cache.Reset()
	}
}

// forget frees the memory of texts that have lost their slots.
func (d *draftModel) forget() {
	for slot, q := range d.owners {
		if q != nil && q.slot != slot {
			d.cache.Truncate(slot, 0)
			d.owners[slot], d.computed[slot] = nil, nil
		}
	}
}

func (d *draftModel) guess(list []*sequence, most []int) ([][]int32, error) {
	d.forget()
	guesses := make([][]int32, len(list))
	var open []int // the texts that get more guesses
	for i, q := range list {
		ok, err := d.prepare(q, most[i])
		if err != nil {
			return nil, err
		}
		if ok {
			open = append(open, i)
		}
	}
	for len(open) > 0 {
		if err := d.step(list, guesses, open); err != nil {
			return nil, err
		}
		open = slices.DeleteFunc(open, func(i int) bool {
			n := len(guesses[i])
			if id := guesses[i][n-1]; id < 0 || int(id) >= d.vocabulary {
				guesses[i] = guesses[i][:n-1]
				return true
			}
			return n == most[i]
		})
	}
	return guesses, nil
}

// prepare computes the tokens of a text but the last ones, so that at most two are left. It reports false if the text gets no guesses: none are
// wanted, a token is unknown to the draft model, or its context or its cache is full.
func (d *draftModel) prepare(q *sequence, n int) (bool, error) {
	slot, known := q.slot, 0
	if d.owners[slot] == q {
		known = min(common(d.computed[slot], q.tokens), len(q.tokens)-1)
	}
	d.cache.Truncate(slot, known)
	d.owners[slot], d.computed[slot] = q, slices.Clone(q.tokens[:known])
	_, free := d.cache.Pages()
	unknown := slices.ContainsFunc(q.tokens[known:], func(id int32) bool { return int(id) >= d.model.Vocabulary })
	if all := len(q.tokens) + n; n == 0 || unknown || all > d.model.Context || pagesOf(all)-pagesOf(known) > free {
		return false, nil
	}
	for left := q.tokens[known:]; len(left) > 2; left = q.tokens[len(d.computed[slot]):] {
		part := left[:min(len(left)-1, d.chunk)]
		if err := tensor.RunOn(context.Background(), d.stream, func(s *tensor.Scope) error {
			_, err := d.model.Forward(s, d.cache, llama.Span{Sequence: slot, Tokens: part})
			return err
		}); err != nil {
			return false, err
		}
		d.computed[slot] = append(d.computed[slot], part...)
	}
	return true, nil
}

// common returns the length of the longest common prefix.
func common(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// step appends a token to the guesses of texts.
func (d *draftModel) step(list []*sequence, guesses [][]int32, open []int) error {
	var tokens []int32
	var rows []*sequence
	var slots, last []int
	for _, i := range open {
		q := list[i]
		all := append(slices.Clone(q.tokens), guesses[i]...)
		for _, id := range all[len(d.computed[q.slot]):] {
			tokens, rows, slots = append(tokens, id), append(rows, q), append(slots, q.slot)
		}
		last, d.computed[q.slot] = append(last, len(rows)-1), all
	}
	if err := errors.Join(d.decoder.Put(0, tokens), d.sampler.repeat(0, rows), d.decoder.Step(slots...)); err != nil {
		return err
	}
	if err := d.mailbox.send(d.decoder.Tokens().Slice(0, len(rows)), device.Slice[sampling.Likely]{}); err != nil {
		return err
	}
	chosen, _, err := d.mailbox.receive(context.Background())
	if err != nil {
		return err
	}
	for k, i := range open {
		guesses[i] = append(guesses[i], chosen[last[k]])
	}
	return nil
}
