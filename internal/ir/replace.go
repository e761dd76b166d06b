package ir

// Replacements describes which values take the place of others. The zero value says so of none.
type Replacements struct {
	by   []int32 // by ID of the value that is replaced: the place in with of what does so, counted from 1; 0 if nothing does
	with []*Value
}

// Add has w take the place of v, and of all that v takes the place of.
func (r *Replacements) Add(v, w *Value) {
	if v.ID >= len(r.by) {
		r.grow(v)
	}
	at := &r.by[v.ID]
	if *at != 0 {
		r.with[*at-1] = w
		return
	}
	r.with = append(r.with, w)
	*at = int32(len(r.with))
}

// grow makes room for all values that v's function has now, so that it need not be done for one after the other.
func (r *Replacements) grow(v *Value) {
	n := v.ID + 1
	if v.Block != nil {
		n = max(n, v.Block.Func.NumValues())
	}
	r.by = append(r.by, make([]int32, n-len(r.by))...)
}

// Len returns how many values are replaced.
func (r *Replacements) Len() int { return len(r.with) }

// Of returns what takes the place of v in the end, or v.
func (r *Replacements) Of(v *Value) *Value {
	for r.Has(v) {
		v = r.with[r.by[v.ID]-1]
	}
	return v
}

// Has reports whether v is replaced.
func (r *Replacements) Has(v *Value) bool { return v.ID < len(r.by) && r.by[v.ID] != 0 }

// Replace replaces all uses in f of the values in r by their replacements.
func (f *Func) Replace(r *Replacements) {
	if r.Len() == 0 {
		return
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for i, a := range v.Args {
				if w := r.Of(a); w != a {
					v.Args[i] = w
				}
			}
		}
	}
}
