package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// siteTable numbers the places that can fault or print, in the order of the IR's blocks.
// Values that say the same of the same line share a number.
type siteTable struct {
	sites []device.Site
	index map[*ir.Value]int
}

func newSiteTable(f *ir.Func) *siteTable {
	t := &siteTable{index: map[*ir.Value]int{}}
	seen := map[string]int{}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if site, ok := v.Aux.(*ir.Site); ok {
				t.add(v, site, seen)
			}
		}
	}
	return t
}

func (t *siteTable) add(v *ir.Value, site *ir.Site, seen map[string]int) {
	key := fmt.Sprintf("%s:%d %v", v.Pos.File, v.Pos.Line, site)
	i, ok := seen[key]
	if !ok {
		i = len(t.sites)
		seen[key] = i
		t.sites = append(t.sites, device.Site{File: v.Pos.File, Line: v.Pos.Line, Format: site.Format, Args: site.Args})
	}
	t.index[v] = i
}
