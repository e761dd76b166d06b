package llm

import (
	"context"
	"errors"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
)

// A drafter guesses tokens. The engine's goroutine calls it.
type drafter interface {
	// guess returns guesses of the next tokens of each text: at most the given number, or none.
	guess(list []*sequence, most []int) ([][]int32, error)
	// reset forgets all texts, after an error.
	reset()
	close() error
}

// speculation is how an engine guesses tokens, if it does. A step then computes the guessed tokens of a text together with its last token,
// and chooses a token after each. The chosen tokens are those that a step for each of them would have chosen, up to the first one that differs from
// the guess (Leviathan et al., "Fast Inference from Transformers via Speculative Decoding"). This holds for random choices, too: a choice
// depends on the scores and on a random number of its position, and not on the guess.
type speculation struct {
	drafter     // nil for none
	each    int // the largest number of guessed tokens of a text in a step
	all     int // of all texts in a step
	rows    int // of the decoder
}

// mostDrafts is the largest number of guessed tokens of a step: with more, a step takes much longer than one of few tokens.
const mostDrafts = 32

// speculation returns how the engine guesses with a drafter. Without Deterministic, the decoder has rows for the guesses. With it, a step
// computes as many rows as without guesses, since the number of rows may influence results: guesses use the rows that no text uses.
func (o Options) speculation(d drafter, sequences int) speculation {
	s := speculation{drafter: d, each: o.DraftTokens, rows: bucket(sequences)}
	if d == nil {
		return s
	}
	if s.all = s.rows; !o.Deterministic {
		s.all = mostDrafts
		s.rows = bucket(sequences + min(mostDrafts, sequences*o.DraftTokens))
	}
	return s
}

// bucket returns the smallest power of two that is at least n, which is the number of rows that a Decoder has.
func bucket(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// guessable reports whether the next tokens of a text can be guessed. If the choice of a token depends on the tokens before in another way than
// by the scores of the model, they cannot.
func (q *sequence) guessable() bool { return q.matcher == nil && !q.request.penalizes() }

// speculates reports whether tokens of a row may be guessed, so that the host must know its last token first.
func (e *engine) speculates() bool {
	n := 0
	for _, q := range e.rows {
		if q.guessable() && !q.leaving && q.rest == 0 {
			n++
		}
	}
	return e.drafter != nil && n > 0 && e.share(n) > 0
}

// share returns how many tokens of each of n texts may be guessed in a step.
func (e *engine) share(n int) int { return min(e.each, min(e.all, e.speculation.rows-len(e.rows))/n) }

// draft is guessed tokens of the text of a row.
type draft struct {
	*sequence
	row    int
	tokens []int32
}

// tokensOf returns the number of tokens of drafts.
func tokensOf(list []draft) (n int) {
	for _, x := range list {
		n += len(x.tokens)
	}
	return n
}

// drafts guesses tokens of the rows, if the host knows all tokens of their texts.
func (e *engine) drafts(known bool) ([]draft, error) {
	var list []draft
	var texts []*sequence
	for row, q := range e.rows {
		switch {
		case e.drafter == nil || !q.guessable() || q.leaving:
		case q.rest > 0:
			q.rest--
		default:
			list, texts = append(list, draft{q, row, nil}), append(texts, q)
		}
	}
	if len(texts) == 0 || !known {
		return nil, nil
	}
	guesses, err := e.guess(texts, e.allowances(texts))
	if err != nil {
		return nil, err
	}
	n := 0
	for i, x := range list {
		if x.tokens = guesses[i]; len(x.tokens) > 0 {
			list[n] = x
			n++
		}
	}
	return list[:n], nil
}

// allowances returns how many tokens of each text may be guessed. There is room in the decoder and in the cache for them and for a token of
// each row. A text does not get longer than it may be if all guesses are right.
func (e *engine) allowances(texts []*sequence) []int {
	list := make([]int, len(texts))
	pages := e.slots.free()
	for _, q := range e.rows {
		if !q.leaving {
			pages -= e.slots.further(q, e.cache.Len(q.slot)+1)
		}
	}
	for i, q := range texts {
		n := min(e.share(len(texts)), e.context-len(q.tokens)-1)
		if q.request.MaxTokens > 0 {
			n = min(n, q.request.MaxTokens-q.generated-1)
		}
		next := e.cache.Len(q.slot) + 1
		more := e.slots.further(q, next+max(n, 0)) - e.slots.further(q, next)
		if more > pages { // only what the last page has room for
			n, more = pagesOf(next)*llama.PageTokens-next, 0
		}
		list[i], pages = max(n, 0), pages-more
	}
	return list
}

// verify computes a token of each row and the drafts, and delivers the guessed tokens that are chosen. Afterwards, the rows are as after a step
// that computes the last one of these.
func (e *engine) verify(list []draft) error {
	slots, first := e.slotsOfRows(), len(e.rows)
	var tokens []int32
	var owners []*sequence
	for _, x := range list {
		for _, id := range x.tokens {
			tokens, slots, owners = append(tokens, id), append(slots, x.slot), append(owners, x.sequence)
		}
	}
	if err := errors.Join(e.decoder.Put(first, tokens), e.sampler.repeat(first, owners)); err != nil {
		return err
	}
	if err := errors.Join(e.decoder.Step(slots...), e.pace.enqueued()); err != nil {
		return err
	}
	if err := e.mailbox.send(e.decoder.Tokens().Slice(0, len(slots)), e.likely(len(slots))); err != nil {
		return err
	}
	chosen, likely, err := e.received()
	if err != nil {
		return err
	}
	for _, x := range list {
		if err := e.settle(x, first, outcome{chosen, likely}); err != nil {
			return err
		}
		first += len(x.tokens)
	}
	return nil
}

// outcome is the tokens that a step has chosen, and the lists of probable ones.
type outcome struct {
	chosen []int32
	likely []sampling.Likely
}

// settle removes the wrong tokens of a draft, whose rows begin with a number, delivers the right ones, and moves the token after these to the
// row of the text.
func (e *engine) settle(x draft, first int, o outcome) error {
	if x.ended { // by the error of another text of its request
		return nil
	}
	right, last := 0, x.row // the row of the last token that is right
	for right < len(x.tokens) && o.chosen[last] == x.tokens[right] {
		last = first + right
		right++
	}
	e.cache.Truncate(x.slot, e.cache.Len(x.slot)-len(x.tokens)+right)
	x.usage.Drafted, x.usage.Accepted = x.usage.Drafted+len(x.tokens), x.usage.Accepted+right
	e.state.drafted(len(x.tokens), right)
	x.learn(right)
	row := x.row
	for i, id := range x.tokens[:right] {
		e.deliver(x.sequence, id, o.likely[row*sampling.LikelyRow:])
		row = first + i
	}
	if x.ended || last == x.row {
		return nil
	}
	return errors.Join(e.decoder.Move(x.row, last), e.sampler.moveList(x.row, last, x.request))
}

// mostMisses is the number of steps with wrong guesses after which a text rests for the largest number of steps.
const mostMisses = 4

// learn notes how many guesses of a step were right. After each step without one, the text has no guesses for twice as many steps as before,
// because a step with wrong guesses takes longer than one without guesses.
func (q *sequence) learn(right int) {
	if right > 0 {
		q.misses = 0
		return
	}
	q.misses = min(q.misses+1, mostMisses)
	q.rest = 1 << q.misses
}

// received waits for the tokens that were sent, and returns them with the lists of probable ones. They are valid until others are sent.
func (e *engine) received() (tokens []int32, likely []sampling.Likely, err error) {
	if err := clocked(&e.times.Waited, func() (err error) {
		tokens, likely, err = e.mailbox.receive(context.Background())
		return err
	}); err != nil {
		return nil, nil, err
	}
	idle, err := e.pace.waited()
	e.times.Idle += idle
	return tokens, likely, err
}
