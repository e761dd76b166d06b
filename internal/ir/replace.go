package ir

// Replacements says which values take the place of others. The zero value says so of none.
type Replacements struct {
	by []*Value // by ID of the value that is replaced
	n  int
}

// Add has w take the place of v, and of all that v takes the place of.
func (r *Replacements) Add(v, w *Value) {
	if n := v.ID + 1 - len(r.by); n > 0 {
		r.by = append(r.by, make([]*Value, n)...)
	}
	if r.by[v.ID] == nil {
		r.n++
	}
	r.by[v.ID] = w
}

// Len returns how many values are replaced.
func (r *Replacements) Len() int { return r.n }

// Of returns what takes the place of v in the end, or v.
func (r *Replacements) Of(v *Value) *Value {
	for v.ID < len(r.by) && r.by[v.ID] != nil {
		v = r.by[v.ID]
	}
	return v
}

// Has reports whether v is replaced.
func (r *Replacements) Has(v *Value) bool { return v.ID < len(r.by) && r.by[v.ID] != nil }

// Replace makes every use in f of a value that is replaced a use of what takes its place.
func (f *Func) Replace(r *Replacements) {
	if r.n == 0 {
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
