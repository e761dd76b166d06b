package finetune

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/gopherwarp/gopherwarp/train/text"
	"github.com/gopherwarp/gopherwarp/weights"
)

// training identifies the data and the form of what is trained, which must not change when a training continues.
func (t *Trainer) training() string {
	c, more := t.config, ""
	if c.Optimizer == eightBit {
		more = ", optimizer " + c.Optimizer
	}
	if c.Precision != "" {
		more += ", precision " + c.Precision
	}
	if c.Method == full {
		return fmt.Sprintf("all parameters, data %s, seed %d, length %d, batch %d", t.print, c.Seed, c.Length, c.Batch) + more
	}
	return fmt.Sprintf("data %s, seed %d, length %d, batch %d, rank %d, alpha %g, rslora %v, dropout %g, dora %v, modules %q, dpo %v, beta %g",
		t.print, c.Seed, c.Length, c.Batch, c.Rank, c.Alpha, c.RankStabilized, c.Dropout, c.DoRA, c.Modules, c.DPO, c.Beta) + more
}

// rule identifies how steps change parameters. Steps and Epochs are not part of it: a training may continue to be longer or shorter.
func (c Config) rule() string {
	return fmt.Sprintf("lr %g, schedule %s, warmup %d, decay %g, clip %g", c.Rate, c.Schedule, c.WarmUp, c.Decay, c.Clip)
}

// continues returns ErrCheckpoint if the checkpoint in a folder belongs to another training. Checkpoints of earlier versions have no Model and no Rule.
func (t *Trainer) continues(s state, folder string) error {
	for _, x := range []struct {
		what, was, is string
		optional      bool
	}{
		{"", s.Training, t.training(), false},
		{"model ", s.Model, t.base, true},
		{"", s.Rule, t.config.rule(), true},
	} {
		if x.was != x.is && !(x.optional && x.was == "") {
			return fmt.Errorf("%w: %s belongs to the training of %s%s, not of %s%s", ErrCheckpoint, folder, x.what, x.was, x.what, x.is)
		}
	}
	return nil
}

// fingerprint returns a hash of texts.
func fingerprint(d *text.Data) string {
	h := sha256.New()
	for _, e := range d.Examples {
		for x := &e; x != nil; x = x.Rejected {
			// A hash's Write never fails.
			_ = binary.Write(h, binary.LittleEndian, int64(len(x.Tokens)))
			_ = binary.Write(h, binary.LittleEndian, x.Tokens)
			_ = binary.Write(h, binary.LittleEndian, x.Learned)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// The fingerprint of a model has this number of parts of each tensor, at equal distances, which have this number of bytes.
const (
	sampledParts = 8
	sampledBytes = 512
)

// fingerprintOf returns a hash of the names, types, shapes and a sample of the values of all tensors. To read all values would take too long.
func fingerprintOf(f *weights.File) (string, error) {
	h := sha256.New()
	for _, x := range f.Tensors {
		fmt.Fprintf(h, "%q %v %v\n", x.Name(), x.Type(), x.Shape())
		part := make([]byte, min(sampledBytes, x.Size()))
		for i := range sampledParts {
			if _, err := x.ReadAt(part, int64(x.Size()-len(part))*int64(i)/(sampledParts-1)); err != nil {
				return "", err
			}
			h.Write(part)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}
