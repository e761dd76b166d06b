package ptx

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// siteTable numbers the places that can fault or print, in the order of the IR's blocks.
// Values that say the same of the same line share a number.
type siteTable struct {
	sites []driver.Site
	index map[*ir.Value]int
}

// newSiteTable numbers the sites of f after those that have numbers already.
func newSiteTable(f *ir.Func, sites []driver.Site) *siteTable {
	t := &siteTable{sites: slices.Clone(sites), index: map[*ir.Value]int{}}
	seen := map[string]int{}
	for i, s := range sites {
		seen[siteKey(s)] = i
	}
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
	s := driver.Site{File: v.Pos.File, Line: v.Pos.Line, Format: site.Format, Args: append([]dtype.Type{}, site.Args...)}
	key := siteKey(s)
	i, ok := seen[key]
	if !ok {
		i = len(t.sites)
		seen[key] = i
		t.sites = append(t.sites, s)
	}
	t.index[v] = i
}

// siteKey identifies a site.
func siteKey(s driver.Site) string { return fmt.Sprint(s.File, ":", s.Line, " ", s.Args, s.Format) }
