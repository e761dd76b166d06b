package llama

// Bulks returns the number of graphs of Advance.
func (d *Decoder) Bulks() (n int) {
	for _, g := range d.bulks.graphs {
		if g.graph != nil {
			n++
		}
	}
	return n
}
