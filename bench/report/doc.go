// Package report is what a benchmark has measured: a table for a terminal, JSON, a page with
// charts, the difference to an earlier report, and the bars, which are what the project demands of itself.
//
//	r, err := report.ReadJSON(file)
//	err = r.WriteTable(os.Stdout) // 80 columns
//	err = r.WritePage(page)       // one HTML file that loads nothing
//	for _, b := range r.Bars() {
//		fmt.Println(b.What, b.Figure, b.Met())
//	}
//
// The package measures nothing: bench/suite and the programs beside it do.
package report
