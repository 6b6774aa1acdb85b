package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// reports renders the reports of the run, by file name. The content depends only on the other files of
// the run and on the version of firstlight.
func (b *Bundle) reports(charts ChartsFor) (map[string][]byte, error) {
	v := b.Summary()
	verdicts, err := encode(verdictsFile, v)
	if err != nil {
		return nil, err
	}
	ctrf, err := ctrfReport(b, v)
	if err != nil {
		return nil, err
	}
	junit, err := junitReport(b, v)
	if err != nil {
		return nil, err
	}
	html, err := htmlReport(b, v, charts)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{verdictsFile: verdicts.data, ctrfFile: ctrf, junitFile: junit, reportFile: html}, nil
}

// CompareReports renders the reports again and compares them with those of the run: a person reads
// report.html, not the observations. tool is the version of this program: a report of another
// version is not compared, and its claim has the reason. A run that is not finished has no reports.
func (b *Bundle) CompareReports(tool string, charts ChartsFor) ([]Claim, []Contradiction, error) {
	if b.Header.Tool != tool {
		return []Claim{{
			Field: "reports", Value: "written by firstlight " + b.Header.Tool, Basis: Claimed,
			By: "only that version renders the same bytes: they were not rendered again",
		}}, nil, nil
	}
	want, err := b.reports(charts)
	if err != nil {
		return nil, nil, fmt.Errorf("render the reports of run %s again: %w", b.Header.Run, err)
	}
	var found []Contradiction
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(want)) {
		have, err := ReadFile(filepath.Join(b.Dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("read %s: %w", name, err)
		}
		compared++
		if !bytes.Equal(have, want[name]) {
			found = append(found, Contradiction{Field: name, Message: "is not the report of this run: rendered again from its observations, it differs"})
		}
	}
	if compared == 0 || len(found) > 0 {
		return nil, found, nil
	}
	return []Claim{{Field: "reports", Value: fmt.Sprintf("%d files", compared), Basis: Observed, By: "rendered again, with equal bytes"}}, nil, nil
}
