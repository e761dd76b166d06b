package finetune

// bucketBytes is the size of a bucket. The last bucket is summed after the backward pass, so a small one costs less time there. But each sum costs some
// time too: with two H200s, larger and smaller buckets are slower.
const bucketBytes = 128 << 20

// buckets is the division of the derivatives of all parameters into ranges, which are summed one by one while the backward pass goes on. The backward
// pass completes the last parameters first, so bucket 0 is at the end.
type buckets struct {
	length int // of all derivatives
	size   int // of each bucket but the last
}

// count returns the number of buckets.
func (b buckets) count() int { return (b.length + b.size - 1) / b.size }

// bounds returns the range of a bucket.
func (b buckets) bounds(i int) (begin, end int) {
	end = b.length - i*b.size
	return max(end-b.size, 0), end
}

// filling is how far a backward pass has completed buckets.
type filling struct {
	buckets
	left []int // for each bucket the number of elements that are not complete
	next int   // the first bucket that was not announced
}

func newFilling(b buckets) *filling {
	f := &filling{buckets: b, left: make([]int, b.count())}
	for i := range f.left {
		begin, end := b.bounds(i)
		f.left[i] = end - begin
	}
	return f
}

// complete notes that a range is complete, and returns the number of the buckets, in order, that may be announced now.
func (f *filling) complete(begin, end int) (ready int) {
	for i := range f.left {
		from, to := f.bounds(i)
		f.left[i] -= max(min(to, end)-max(from, begin), 0)
	}
	for f.next < len(f.left) && f.left[f.next] == 0 {
		f.next++
		ready++
	}
	return ready
}
