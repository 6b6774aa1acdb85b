package submission

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
)

// entry is one of the document, with where it stands.
type entry struct {
	catalog.Entry
	category string
	index    int
}

// path leads to a part of the entry in the document.
func (e entry) path(part ...string) []string {
	return append([]string{"spec", e.category, itoa(e.index)}, part...)
}

// requirements holds the document's entries against the checklist, one by one.
func (v *validation) requirements(p catalog.Programme) {
	if !v.doc.Has("spec") {
		v.add(diag.Missing.At(v.doc.At(), "the key \"spec\" is missing").With("add it, with every category of the checklist"))
		return
	}
	found := v.entries(p)
	for _, r := range p.Requirements {
		e, there := found[r.ID]
		switch {
		case there:
			v.requirement(r, e)
		case v.doc.Has("spec", r.Category):
			v.add(ruleRequirement.At(v.doc.At("spec", r.Category), "%s of %s is not there", r.ID, r.Category))
		}
	}
	for _, c := range v.said.Spec.Categories() {
		if len(p.Of(c.Name)) > 0 && !v.doc.Has("spec", c.Name) {
			v.add(ruleCategory.At(v.doc.At("spec"), "the category %s is not there, with %s", c.Name, names(p.Of(c.Name))))
		}
	}
}

// entries are the document's by ID, the first of each; what is no requirement of
// the checklist is a problem. One that stands in another category is found too.
func (v *validation) entries(p catalog.Programme) map[string]entry {
	found := map[string]entry{}
	for _, c := range v.said.Spec.Categories() {
		for i, said := range c.Entries {
			e := entry{Entry: said, category: c.Name, index: i}
			at := v.doc.ValueAt(e.path("id")...)
			r, known := p.Find(said.ID)
			switch {
			case said.ID == "":
				v.add(ruleEdited.At(at, "an entry of %s has no id", c.Name))
				continue
			case !known:
				v.add(v.unknown(p, e))
				continue
			case r.Category != c.Name:
				v.add(ruleEdited.At(at, "%s stands in %s, and belongs to %s", said.ID, c.Name, r.Category).With("move it to %s", r.Category))
			}
			if before, twice := found[said.ID]; twice {
				v.add(ruleTwice.At(at, "%s is here for the second time, first in %s", said.ID, before.category))
				continue
			}
			found[said.ID] = e
		}
	}
	return found
}

// unknown is an entry that the version does not have.
func (v *validation) unknown(p catalog.Programme, e entry) diag.Problem {
	found := ruleExtra.At(v.doc.ValueAt(e.path("id")...), "%s has no requirement %q", p.Version, e.ID)
	var in []string
	for _, version := range catalog.Versions() {
		if other, err := catalog.Load(version); err == nil {
			if _, has := other.Find(e.ID); has {
				in = append(in, version)
			}
		}
	}
	if len(in) > 0 {
		return found.With("remove it: it is one of %s", strings.Join(in, ", "))
	}
	var ids []string
	for _, r := range p.Requirements {
		ids = append(ids, r.ID)
	}
	if near := diag.Nearest(e.ID, ids); near != "" {
		return found.With("the checklist has %s: ids are not edited", near)
	}
	return found
}

// requirement holds one entry against the checklist's.
func (v *validation) requirement(r catalog.Requirement, e entry) {
	v.report.Requirements = append(v.report.Requirements, Stated{ID: r.ID, Level: r.Level, Status: Status(e.Status), Evidence: slices.Concat([]string{}, e.Evidence)})
	if e.Description != r.Description {
		v.add(ruleEdited.At(v.doc.ValueAt(e.path("description")...), "the description of %s is not the checklist's: %s", r.ID, difference(e.Description, r.Description)))
	}
	if e.Level != string(r.Level) {
		v.add(ruleEdited.At(v.doc.ValueAt(e.path("level")...), "the level of %s is %q, and in the checklist %s", r.ID, e.Level, r.Level))
	}
	if r.Level == catalog.Should && e.Status == "" && len(e.Evidence) == 0 {
		return // a SHOULD may be left open
	}
	v.status(r, e)
	v.evidence(e)
}

// status holds the status of one against its level, its evidence and its notes.
func (v *validation) status(r catalog.Requirement, e entry) {
	at := v.doc.ValueAt(e.path("status")...)
	status := Status(e.Status)
	if !slices.Contains(Statuses(), status) {
		if e.Status == "" {
			v.add(ruleStatus.At(at, "%s has no status", r.ID))
		} else {
			v.add(ruleStatus.At(at, "the status of %s is %q", r.ID, e.Status))
		}
		return
	}
	if r.Level == catalog.Must && status != Implemented {
		v.add(ruleMust.At(at, "%s is a MUST and is %s", r.ID, status))
	}
	if status == NotApplicable && strings.TrimSpace(e.Notes) == "" {
		v.add(ruleNotes.At(at, "%s is N/A, and its notes do not say why", r.ID))
	}
	if (status == Implemented || status == PartiallyImplemented) && len(e.Evidence) == 0 {
		found := ruleNoEvidence.At(at, "%s is %s without evidence", r.ID, status)
		if r.Level == catalog.Should { // the programme lets it pass
			found.Severity = diag.Warning
		}
		v.add(found)
	}
}

// difference shows where two texts part.
func difference(got, want string) string {
	g, w := strings.Fields(got), strings.Fields(want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) {
			return "it ends before " + quoteWord(w[i])
		}
		if i >= len(w) {
			return "it goes on with " + quoteWord(g[i])
		}
		if g[i] != w[i] {
			return "it has " + quoteWord(g[i]) + " for " + quoteWord(w[i])
		}
	}
	return "it has other spaces"
}

func quoteWord(s string) string { return "\"" + s + "\"" }

func names(requirements []catalog.Requirement) string {
	ids := make([]string, len(requirements))
	for i, r := range requirements {
		ids[i] = r.ID
	}
	return strings.Join(ids, ", ")
}
