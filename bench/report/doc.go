// Package report presents the results of a benchmark: as a table for a terminal, as JSON, as a page with charts,
// as the changes since an earlier report, and as bars, which are speeds and times that the project requires of itself.
//
//	r, err := report.ReadJSON(file)
//	err = r.WriteTable(os.Stdout) // 80 columns
//	err = r.WritePage(page)       // one HTML file that loads no other
//	for _, b := range r.Bars() {
//		fmt.Println(b.What, b.Figure, b.Met())
//	}
//
// Package bench/suite and the programs in bench make Reports.
package report
