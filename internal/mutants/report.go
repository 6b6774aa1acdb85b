package mutants

import (
	"encoding/json"
	"fmt"
	"io"
)

// Score counts results.
type Score struct {
	// Run is how many mutants count; Killed of them were killed or timed out.
	Run    int `json:"run"`
	Killed int `json:"killed"`
	// Unreached are those in code that no test runs; Equivalent do not count.
	Unreached  int `json:"notReached"`
	Equivalent int `json:"equivalent"`
}

// Share is how much of what was run was killed, 0 to 1; 0 when nothing was run.
func (s Score) Share() float64 {
	if s.Run == 0 {
		return 0
	}
	return float64(s.Killed) / float64(s.Run)
}

// Score counts the results of a package.
func (p Package) Score() Score {
	var s Score
	for _, r := range p.Results {
		if r.Equivalent != "" {
			s.Equivalent++
			continue
		}
		s.Run++
		switch r.Outcome {
		case Killed, TimedOut:
			s.Killed++
		case Unreached:
			s.Unreached++
		case Survived, Ended:
		}
	}
	return s
}

// Total counts the results of all packages.
func Total(packages []Package) Score {
	var total Score
	for _, p := range packages {
		s := p.Score()
		total.Run += s.Run
		total.Killed += s.Killed
		total.Unreached += s.Unreached
		total.Equivalent += s.Equivalent
	}
	return total
}

func (p Package) line() string {
	s := p.Score()
	return fmt.Sprintf("%-50s %7d %6d %7d %12d %11d %7.1f %%", p.Package, p.Mutants, s.Run, s.Killed, s.Unreached, s.Equivalent, 100*s.Share())
}

// Report is what is printed.
type Report struct {
	Seed      uint64    `json:"seed"`
	Sample    int       `json:"sample"`
	Threshold float64   `json:"threshold"`
	Score     Score     `json:"score"`
	Packages  []Package `json:"packages"`
}

// JSON writes the report with all results.
func (r Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Text writes the score of each package, and every mutant that was not killed.
func (r Report) Text(w io.Writer) {
	fmt.Fprintf(w, "\n%-50s %7s %6s %7s %12s %11s %9s\n", "package", "mutants", "run", "killed", "not reached", "equivalent", "score")
	for _, p := range r.Packages {
		fmt.Fprintln(w, p.line())
	}
	fmt.Fprintf(w, "\nnot killed:\n")
	for _, p := range r.Packages {
		for _, m := range p.Results {
			if m.Equivalent == "" && m.Outcome != Killed && m.Outcome != TimedOut {
				fmt.Fprintf(w, "  %s (%s)\n", m.Mutant, m.Outcome)
			}
		}
	}
	fmt.Fprintf(w, "\nseed %d, sample %d: %d of %d mutants killed, %.1f %%, at least %.0f %% demanded\n",
		r.Seed, r.Sample, r.Score.Killed, r.Score.Run, 100*r.Score.Share(), 100*r.Threshold)
	for _, p := range r.Weak() {
		s := p.Score()
		fmt.Fprintf(w, "weak: %s: %d of %d killed, %.1f %%\n", p.Package, s.Killed, s.Run, 100*s.Share())
	}
}
