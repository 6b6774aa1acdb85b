package nvidia

import (
	"regexp"
	"slices"
)

var (
	classed  = regexp.MustCompile(`^(Fatal|Non-fatal), (.*)$`)
	severity = regexp.MustCompile(`^Severity (\d+) `)
)

// sxid adds one line about an error of a switch. The driver prints up to three lines in any
// order: "Fatal, Link 1 ...", "Severity 1 Engine instance ...", "Data {...}". The ring buffer
// can have lost some of them.
func (r *xidReader) sxid(e XidEvent, text, at string) {
	if m := classed.FindStringSubmatch(text); m != nil {
		e.Fatal, e.Text = m[1] == "Fatal", clip(m[2], maxText)
		r.events.add(e, at)
		return
	}
	e.Text = clip(text, maxText)
	if m := severity.FindStringSubmatch(text); m != nil {
		e.Fatal = m[1] != "0"
		r.severe.add(e, at)
		return
	}
	e.Unclassified = true
	r.unclear.add(e, at)
}

// all returns the classified events and the lines that belong to none of them.
func (r *xidReader) all() []XidEvent {
	type source struct {
		device, pci string
		code        int
	}
	of := func(e XidEvent) source { return source{e.Device, e.PCI, e.Code} }
	out := r.events.list
	fatal := map[source]bool{} // by source with an event: whether one of them is fatal
	for _, e := range out {
		if e.Kind == KindSXid {
			fatal[of(e)] = fatal[of(e)] || e.Fatal
		}
	}
	for _, e := range r.severe.list {
		if had, ok := fatal[of(e)]; !ok || e.Fatal && !had {
			out = append(out, e)
			fatal[of(e)] = e.Fatal
		}
	}
	for _, e := range r.unclear.list {
		if _, ok := fatal[of(e)]; !ok {
			out = append(out, e)
		}
	}
	for _, e := range r.offBus.list {
		if !slices.ContainsFunc(out, func(o XidEvent) bool { return o.Kind == KindXid && o.Code == e.Code && o.PCI == e.PCI }) {
			out = append(out, e)
		}
	}
	return out
}

// tally counts equal events.
type tally struct {
	list  []XidEvent
	index map[XidEvent]int // position in list, by the event without its text
}

func newTally() tally { return tally{index: map[XidEvent]int{}} }

func (t *tally) add(e XidEvent, at string) {
	key := e
	key.Text = ""
	if i, ok := t.index[key]; ok {
		t.list[i].Count++
		t.list[i].Last = at
		return
	}
	t.index[key] = len(t.list)
	e.Count, e.First, e.Last = 1, at, at
	t.list = append(t.list, e)
}
