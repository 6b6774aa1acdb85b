package submission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
)

// Submission is one to be written.
type Submission struct {
	// Version is the checklist's: "1.36"; Directory the product's, in vX.Y.
	Version, Directory string
	// Draft says why it is one; none: it is none.
	Draft []string
	// Entries in the order of the checklist.
	Entries []Filled
	// Files are all of it.
	Files []File
}

// Filled is a requirement with what the submission says of it.
type Filled struct {
	catalog.Requirement
	Shown
	Status   Status
	Evidence []string
	Notes    string
	// Unseen is why there is no status, in a draft.
	Unseen string
}

// RefusedError says why no submission can be made of a run.
type RefusedError struct{ Reasons []string }

// Error has a reason a line.
func (e *RefusedError) Error() string {
	return "this run can't be submitted:\n  " + strings.Join(e.Reasons, "\n  ") + "\nrun the conformance anew, or write a draft, which is never valid"
}

// Compose makes a submission of what a run showed. A run that did not see
// everything, is not whole, or is on simulated hardware is refused with a
// *RefusedError, unless a draft is wanted.
func Compose(p catalog.Programme, product Product, run Run, draft bool) (Submission, error) {
	s := Submission{Version: p.Version, Directory: product.Directory}
	var reasons []string
	if run.Incomplete != "" {
		reasons = append(reasons, "the run is not whole: "+run.Incomplete)
	}
	if run.Simulated {
		reasons = append(reasons, "the hardware is simulated: "+run.SimulatedWhy)
	}
	if run.Kubernetes != "" && minor(run.Kubernetes) != p.Version {
		reasons = append(reasons, fmt.Sprintf("the cluster runs Kubernetes %s, and this is for %s", run.Kubernetes, p.Version))
	}
	for _, r := range p.Requirements {
		f := fill(r, product.Requirements[r.ID], run)
		if f.Unseen != "" {
			reasons = append(reasons, r.ID+" "+f.Unseen)
		}
		s.Entries = append(s.Entries, f)
	}
	if len(reasons) > 0 && !draft {
		return Submission{}, &RefusedError{Reasons: reasons}
	}
	if draft {
		s.Draft = append([]string{"a draft was asked for"}, reasons...)
	}
	return s, s.assemble(p, product, run)
}

// fill says of one requirement what was shown of it, and never more.
func fill(r catalog.Requirement, added Addition, run Run) Filled {
	f := Filled{Requirement: r}
	shown, there := run.Shown[r.ID]
	if !there {
		// The programme leaves open what only should be: it stays open.
		if r.Level != catalog.Should {
			f.Unseen = "is not in the run"
		}
		f.Notes = added.Notes
		return f
	}
	f.Shown = shown
	f.Status, f.Unseen = shown.Status()
	if f.Status == "" && r.Level == catalog.Should {
		return f.open(added)
	}
	for _, file := range shown.Files {
		f.Evidence = append(f.Evidence, file.Name)
	}
	if f.Status != "" && len(shown.Files) == 0 && f.Status != NotApplicable {
		f.Status, f.Unseen = "", "has a verdict, and nothing was kept of what was seen"
	}
	if f.Status != "" && f.Status != NotApplicable {
		f.Evidence = append(f.Evidence, junitFile)
	}
	f.Evidence = append(f.Evidence, added.Evidence...)
	f.Notes = sentences(added.Notes, shown.Notes, shown.Reason)
	return f
}

// open leaves a recommendation without a status: too little was seen to say one, and the
// notes say why.
func (f Filled) open(added Addition) Filled {
	f.Notes = sentences(added.Notes, "left open: "+f.ID+" "+f.Unseen)
	f.Unseen = ""
	return f
}

// sentences puts notes after one another, each with its full stop.
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

// assemble makes the files.
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
				return fmt.Errorf("evidence of %s is called %q: there is one of that name, or it is none", r.ID, file.Name)
			}
			taken[file.Name] = true
			s.Files = append(s.Files, s.marked(file))
		}
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
