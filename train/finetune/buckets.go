package finetune

import "github.com/gopherwarp/gopherwarp/nn"

// bucketBytes is the size of a bucket. The last bucket is summed after the backward pass, so a small one costs less time there. But each sum costs some
// time too: with two H200s, larger and smaller buckets are slower.
const bucketBytes = 128 << 20

// ranges is the begins and ends of buckets, in their order.
type ranges [][2]int

// buckets divides the derivatives of all parameters, of a length, into ranges of a size, which are summed one by one while the backward pass goes on. The
// backward pass completes the last parameters first, so bucket 0 is at the end. The last bucket may be smaller.
func buckets(length, size int) (list ranges) {
	for end := length; end > 0; end -= size {
		list = append(list, [2]int{max(end-size, 0), end})
	}
	return list
}

// rangesOf returns the buckets of divided parameters: each process has a part of each.
func rangesOf(m *nn.Memory) (list ranges) {
	for _, p := range m.Parts {
		begin, end := m.Range(p)
		list = append(list, [2]int{begin, end})
	}
	return list
}

// filling is how far a backward pass has completed buckets.
type filling struct {
	ranges
	left []int // for each bucket the number of elements that are not complete
	next int   // the first bucket that was not announced
}

func newFilling(list ranges) *filling {
	f := &filling{ranges: list}
	for _, x := range list {
		f.left = append(f.left, x[1]-x[0])
	}
	return f
}

// complete notes that a range is complete, and returns the number of the buckets, in order, that may be announced now.
func (f *filling) complete(begin, end int) (ready int) {
	for i, x := range f.ranges {
		f.left[i] -= max(min(x[1], end)-max(x[0], begin), 0)
	}
	for f.next < len(f.left) && f.left[f.next] == 0 {
		f.next++
		ready++
	}
	return ready
}
