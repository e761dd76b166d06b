package llm

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
)

// MostBiases is the largest number of tokens with a bias in a Request. With Request.IgnoreEnd, the
// tokens that end a text count too.
const MostBiases = 1024

// ErrRequest is the error of a Request with values that are out of range.
var ErrRequest = errors.New("llm: invalid request")

// biases are those of the rows of a decoder, in device memory.
type biases struct {
	stream  *device.Stream
	rows    [][]sampling.Bias
	list    *device.Buffer[sampling.Bias] // of all rows, one after another
	offsets *device.Buffer[int32]         // where those of each row begin
}

func newBiases(s *device.Stream, rows int) (biases, error) {
	b := biases{stream: s, rows: make([][]sampling.Bias, rows)}
	var err error
	if b.list, err = device.Make[sampling.Bias](s, rows*MostBiases); err != nil {
		return b, err
	}
	b.offsets, err = device.Make[int32](s, rows+1)
	return b, err
}

// close frees the memory.
func (b *biases) close() error {
	var err error
	if b.list != nil {
		err = b.list.Close()
	}
	if b.offsets != nil {
		err = errors.Join(err, b.offsets.Close())
	}
	return err
}

// set sets the biases of a row, unless it has the same already.
func (b *biases) set(row int, list []sampling.Bias) error {
	if slices.Equal(list, b.rows[row]) {
		return nil
	}
	b.rows[row] = list
	all, offsets := slices.Concat(b.rows...), make([]int32, len(b.rows)+1)
	for i, r := range b.rows {
		offsets[i+1] = offsets[i] + int32(len(r))
	}
	return errors.Join(device.UploadTo(b.stream, b.list.Slice(0, len(all)), all), device.UploadTo(b.stream, b.offsets.All(), offsets))
}

// biases returns the biases of a request, in the order of their tokens.
func (m *Model) biases(r Request) (list []sampling.Bias) {
	all := map[int32]float64{}
	maps.Copy(all, r.Bias)
	if r.IgnoreEnd {
		for id := range m.ends {
			all[id] = math.Inf(-1)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, sampling.Bias{Token: id, Value: float32(all[id])})
	}
	return list
}

// check returns the error of values that are out of range.
func (m *Model) check(r Request) error {
	if n := len(m.biases(r)); n > MostBiases {
		return fmt.Errorf("%w: %d biases, at most %d are allowed", ErrRequest, n, MostBiases)
	}
	if r.TopLogprobs < 0 || r.TopLogprobs > MostLogprobs {
		return fmt.Errorf("%w: TopLogprobs is %d, at most %d is allowed", ErrRequest, r.TopLogprobs, MostLogprobs)
	}
	return nil
}
