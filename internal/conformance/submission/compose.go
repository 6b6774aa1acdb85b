package submission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence"
)

// Submission is the content of a submission, for Write.
type Submission struct {
	// Version of the checklist: "1.36". Directory is the product's directory in vX.Y.
	Version, Directory string
	// Draft is the list of reasons for a draft; empty for a submission.
	Draft []string
	// Entries in the order of the checklist.
	Entries []Filled
	// Files of the directory, sorted by name.
	Files []File
}

// Filled is a requirement of the checklist, filled in.
type Filled struct {
	catalog.Requirement
	Shown
	Status   Status
	Evidence []string
	Notes    string
	// NoStatus is the reason for a missing status; empty with a status, and for a SHOULD
	// that is left open.
	NoStatus string
}

// RefusedError lists the reasons why a run cannot be submitted.
type RefusedError struct{ Reasons []string }

// Error has one line for each reason.
func (e *RefusedError) Error() string {
	return "cannot submit this run:\n  " + strings.Join(e.Reasons, "\n  ") + "\nrun the conformance checks again, or write a draft, which is never valid"
}

// Compose makes a submission from the results of a run. An incomplete run, a run without a
// result of a MUST and a run on simulated or unidentified hardware are a *RefusedError, except for a draft.
func Compose(p catalog.Programme, product Product, run Run, draft bool) (Submission, error) {
	s := Submission{Version: p.Version, Directory: product.Directory}
	var reasons []string
	if run.Incomplete != "" {
		reasons = append(reasons, "the run is incomplete: "+run.Incomplete)
	}
	switch run.Simulated {
	case evidence.HardwareReal:
	case evidence.HardwareSimulated:
		reasons = append(reasons, "the hardware is simulated: "+run.SimulatedWhy)
	default:
		reasons = append(reasons, "the cluster was not identified: whether its hardware is simulated is unknown")
	}
	if run.Kubernetes != "" && minor(run.Kubernetes) != p.Version {
		reasons = append(reasons, fmt.Sprintf("the cluster runs Kubernetes %s, and the submission is for %s", run.Kubernetes, p.Version))
	}
	for _, r := range p.Requirements {
		f := fill(r, product.Requirements[r.ID], run)
		if f.NoStatus != "" {
			reasons = append(reasons, r.ID+" "+f.NoStatus)
		}
		s.Entries = append(s.Entries, f)
	}
	if len(reasons) > 0 && !draft {
		return Submission{}, &RefusedError{Reasons: reasons}
	}
	if draft {
		s.Draft = append([]string{"a draft was requested"}, reasons...)
	}
	return s, s.assemble(p, product, run)
}

// fill fills in one requirement; its status is never better than the result of the run.
func fill(r catalog.Requirement, added Addition, run Run) Filled {
	f := Filled{Requirement: r}
	shown, ok := run.Shown[r.ID]
	if !ok {
		// The program accepts a SHOULD without a status.
		if r.Level != catalog.Should {
			f.NoStatus = "is not in the run"
		}
		f.Notes = added.Notes
		return f
	}
	f.Shown = shown
	f.Status, f.NoStatus = shown.Status()
	if f.Status == "" && r.Level == catalog.Should {
		return f.open(added)
	}
	for _, file := range shown.Files {
		f.Evidence = append(f.Evidence, file.Name)
	}
	if f.Status != "" && len(shown.Files) == 0 && f.Status != NotApplicable {
		f.Status, f.NoStatus = "", "has a verdict without stored observations"
	}
	if f.Status != "" && f.Status != NotApplicable {
		f.Evidence = append(f.Evidence, junitFile)
	}
	f.Evidence = append(f.Evidence, added.Evidence...)
	f.Notes = sentences(added.Notes, shown.Notes, shown.Reason)
	return f
}

// open leaves a SHOULD without a status: its observations are insufficient, and the notes
// have the reason.
func (f Filled) open(added Addition) Filled {
	f.Notes = sentences(added.Notes, "left open: "+f.ID+" "+f.NoStatus)
	f.NoStatus = ""
	return f
}

// sentences joins notes, and ends each with a full stop.
func sentences(texts ...string) string {
	var out []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if !strings.HasSuffix(t, ".") {
			t += "."
		}
		out = append(out, t)
	}
	return strings.Join(out, " ")
}

// assemble renders the files.
func (s *Submission) assemble(p catalog.Programme, product Product, run Run) error {
	text, err := s.productYAML(product)
	if err != nil {
		return err
	}
	junit, err := s.junit(run)
	if err != nil {
		return err
	}
	s.Files = []File{{Name: productFile, Content: text}, {Name: junitFile, Content: junit}}
	if len(s.Draft) > 0 {
		s.Files = append(s.Files, File{Name: draftFile, Content: s.draftText(run)})
	}
	taken := map[string]bool{productFile: true, junitFile: true, draftFile: true}
	for _, r := range p.Requirements {
		for _, file := range run.Shown[r.ID].Files {
			if clean := path.Clean(file.Name); clean != file.Name || path.IsAbs(clean) || clean == "." || strings.HasPrefix(clean, "..") || taken[clean] {
				return fmt.Errorf("evidence of %s: invalid file name %q: must be a unique relative path in the submission's directory", r.ID, file.Name)
			}
			taken[file.Name] = true
			s.Files = append(s.Files, s.marked(file))
		}
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
