package submission

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
)

// entry is a requirement in the document, with its position.
type entry struct {
	catalog.Entry
	category string
	index    int
}

// path returns the path to a part of the entry in the document.
func (e entry) path(part ...string) []string {
	return append([]string{"spec", e.category, itoa(e.index)}, part...)
}

// requirements compares every entry of the document with the checklist.
func (v *validation) requirements(p catalog.Programme) {
	if !v.doc.Has("spec") {
		v.add(diag.Missing.At(v.doc.At(), "the key \"spec\" is missing").With("add it, with every category of the checklist"))
		return
	}
	found := v.entries(p)
	for _, r := range p.Requirements {
		e, ok := found[r.ID]
		switch {
		case ok:
			v.requirement(r, e)
		case v.doc.Has("spec", r.Category):
			v.add(ruleRequirement.At(v.doc.At("spec", r.Category), "requirement %s of category %s is missing", r.ID, r.Category))
		}
	}
	for _, c := range v.decoded.Spec.Categories() {
		if len(p.Of(c.Name)) > 0 && !v.doc.Has("spec", c.Name) {
			v.add(ruleCategory.At(v.doc.At("spec"), "category %s is missing, with %s", c.Name, names(p.Of(c.Name))))
		}
	}
}

// entries returns the document's entries by ID, the first of each, in any category. An
// unknown ID is a problem.
func (v *validation) entries(p catalog.Programme) map[string]entry {
	found := map[string]entry{}
	for _, c := range v.decoded.Spec.Categories() {
		for i, declared := range c.Entries {
			e := entry{Entry: declared, category: c.Name, index: i}
			at := v.doc.ValueAt(e.path("id")...)
			r, known := p.Find(declared.ID)
			switch {
			case declared.ID == "":
				v.add(ruleEdited.At(at, "an entry of %s has no id", c.Name))
				continue
			case !known:
				v.add(v.unknown(p, e))
				continue
			case r.Category != c.Name:
				v.add(ruleEdited.At(at, "%s is in category %s, and must be in %s", declared.ID, c.Name, r.Category).With("move it to %s", r.Category))
			}
			if before, twice := found[declared.ID]; twice {
				v.add(ruleTwice.At(at, "duplicate requirement %s, first in category %s", declared.ID, before.category))
				continue
			}
			found[declared.ID] = e
		}
	}
	return found
}

// unknown is the problem of an entry that the version does not have.
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
		return found.With("remove it: it is a requirement of %s", strings.Join(in, ", "))
	}
	var ids []string
	for _, r := range p.Requirements {
		ids = append(ids, r.ID)
	}
	if near := diag.Nearest(e.ID, ids); near != "" {
		return found.With("write %s: ids must not be edited", near)
	}
	return found
}

// requirement compares one entry with the checklist.
func (v *validation) requirement(r catalog.Requirement, e entry) {
	v.report.Requirements = append(v.report.Requirements, Stated{ID: r.ID, Level: r.Level, Status: Status(e.Status), Evidence: slices.Concat([]string{}, e.Evidence)})
	if e.Description != r.Description {
		v.add(ruleEdited.At(v.doc.ValueAt(e.path("description")...), "the description of %s differs from the checklist: %s", r.ID, difference(e.Description, r.Description)))
	}
	if e.Level != string(r.Level) {
		v.add(ruleEdited.At(v.doc.ValueAt(e.path("level")...), "the level of %s is %q: must be %s, as in the checklist", r.ID, e.Level, r.Level))
	}
	if r.Level == catalog.Should && e.Status == "" && len(e.Evidence) == 0 {
		return // a SHOULD may be left open
	}
	v.status(r, e)
	v.evidence(e)
}

// status checks the status of an entry against its level, its evidence and its notes.
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
		v.add(ruleNotes.At(at, "%s is N/A without a reason in its notes", r.ID))
	}
	if (status == Implemented || status == PartiallyImplemented) && len(e.Evidence) == 0 {
		found := ruleNoEvidence.At(at, "%s is %s without evidence", r.ID, status)
		if r.Level == catalog.Should { // the program accepts it
			found.Severity = diag.Warning
		}
		v.add(found)
	}
}

// difference describes the first difference of two texts.
func difference(got, want string) string {
	g, w := strings.Fields(got), strings.Fields(want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) {
			return "it ends before " + quoteWord(w[i])
		}
		if i >= len(w) {
			return "it continues with " + quoteWord(g[i])
		}
		if g[i] != w[i] {
			return "it has " + quoteWord(g[i]) + " in place of " + quoteWord(w[i])
		}
	}
	return "its spaces differ"
}

func quoteWord(s string) string { return "\"" + s + "\"" }

func names(requirements []catalog.Requirement) string {
	ids := make([]string, len(requirements))
	for i, r := range requirements {
		ids[i] = r.ID
	}
	return strings.Join(ids, ", ")
}
