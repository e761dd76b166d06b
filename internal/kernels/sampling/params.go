package sampling

// Params are the parameters of a row. The zero value chooses the token with the greatest logit, of several the one with the lowest
// index.
type Params struct {
	Seed        uint64
	Temperature float32 // 0, negative or NaN for the greatest logit
	TopP        float32 // share of the weights that is kept; 0 or at least 1 for all
	MinP        float32 // least weight that is kept, as a share of the greatest; 0 for all
	TopK        int32   // number of tokens that are kept; 0 or negative for all

	// Penalties need Operands.Counts. Repetition divides positive logits of tokens that occur in the prompt or were generated, and
	// multiplies negative ones; 0 stands for 1. Frequency is subtracted for each time that a token was generated, Presence once.
	Repetition, Frequency, Presence float32

	Top int32 // number of the most probable tokens that List lists; at most MostLikely

	Masked   bool // the row of Operands.Mask applies
	Logprobs bool // the row's Logprob is wanted
	Skip     bool // the row is not sampled; its results stay as they are
}

// penalises reports whether penalties change logits.
func (p *Params) penalises() bool {
	return p.Repetition != 0 && p.Repetition != 1 || p.Frequency != 0 || p.Presence != 0
}

// cuts reports whether top-k keeps fewer than n tokens.
func (p *Params) cuts(n int) bool { return p.Temperature > 0 && p.TopK > 0 && int(p.TopK) < n }

// penalise returns a logit after penalties, given the count of its token.
func (p *Params) penalise(z float32, count uint16) float32 {
	if count == 0 {
		return z
	}
	if p.Repetition != 0 {
		if z > 0 {
			z /= p.Repetition
		} else {
			z *= p.Repetition
		}
	}
	generated := count & maxCount
	z -= float32(p.Frequency * float32(generated))
	if generated > 0 {
		z -= p.Presence
	}
	return z
}

const (
	// Prompt is the bit of a count that says that the token occurs in the prompt. The others count how often it was generated, up
	// to 32767.
	Prompt   = 1 << 15
	maxCount = Prompt - 1
)

// counted returns a count after its token was generated once more.
func counted(count uint16) uint16 {
	if count&maxCount == maxCount {
		return count
	}
	return count + 1
}

// Bias is added to the logit of a token. One for a token outside the vocabulary is ignored.
type Bias struct {
	Token int32
	Value float32
}
