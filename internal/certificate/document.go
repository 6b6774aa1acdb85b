package certificate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
)

// document is a certificate as it is read: the page and the print have the same text.
type document struct {
	Title, Decision, Summary string
	// Accepted: nothing prevents acceptance.
	Accepted bool
	// Banner is written across the top of a specimen.
	Banner   string
	Sections []section
	// Sign are the signature fields, Footer is on each page of the print.
	Sign   []Signatory
	Footer string
}

// section is a heading with a paragraph, a table or both.
type section struct {
	Title, Text string
	Columns     []column
	Rows        [][]string
}

// column has a width in percent of the page.
type column struct {
	Name  string
	Width float64
}

const none = "-"

func (c Certificate) document(signedBy string) document {
	d := document{
		Title: "Certificate of acceptance", Decision: string(c.Decision), Accepted: c.Decision != NotAccepted && !c.Specimen,
		Summary: c.summary(), Sign: c.Terms.Signatories,
		Footer: fmt.Sprintf("run %s, evidence sha256 %s", c.Run.ID, c.Run.Manifest),
	}
	if c.Specimen {
		d.Banner = "SPECIMEN: certifies nothing"
		d.Title, d.Footer = "Specimen of a certificate", "SPECIMEN, "+d.Footer
	}
	d.Sections = []section{c.parties(signedBy), c.gates(), c.contractFigures(), c.deviations(), c.machines(), c.adapters()}
	return d.escaped()
}

func (c Certificate) summary() string {
	open := len(c.Open())
	switch {
	case c.Decision == Accepted:
		return "Every gate of the playbook passed on the ordered inventory, and every figure of the contract is met."
	case c.Decision == WithWaivers:
		return fmt.Sprintf("%s from the playbook or the contract, each with a waiver in force.", count(len(c.Deviations), "deviation"))
	case open == 0:
		return fmt.Sprintf("The verdict of the run is %s.", c.Run.Verdict)
	default:
		return fmt.Sprintf("%s without a waiver in force.", count(open, "deviation"))
	}
}

func (c Certificate) parties(signedBy string) section {
	if signedBy == "" {
		signedBy = "not signed"
	}
	return section{
		Title: "Contract and evidence", Columns: []column{{"", 26}, {"", 74}},
		Rows: [][]string{
			{"Contract", c.Terms.Contract.Reference},
			{"Supplier", c.Terms.Contract.Supplier},
			{"Customer", c.Terms.Contract.Customer},
			{"Site", c.Run.Site.Name + ", sha256 " + c.Run.Site.SHA256},
			{"Profile", c.Run.Profile.Name + ", sha256 " + c.Run.Profile.SHA256},
			{"Cluster", cluster(c.Run.Cluster)},
			{"Hardware", hardware(c.Run.Simulated)},
			{"Run", fmt.Sprintf("%s, %s to %s, firstlight %s", c.Run.ID, when(c.Run.Began), when(c.Run.Ended), c.Run.Tool)},
			{"Evidence", "manifest sha256 " + c.Run.Manifest},
			{"Evidence signed by", or(c.Run.SignedBy)},
			{"Issued", when(c.Issued)},
			{"Certificate signed by", signedBy},
		},
	}
}

// cluster is the identity of the cluster or machine, with where it comes from.
func cluster(id string) string {
	if evidence.IsMachine(id) {
		return id + " (hash of /etc/machine-id)"
	}
	if evidence.IsSlurm(id) {
		return id + " (ClusterName and host of slurmctld)"
	}
	return or(id) + " (UID of namespace kube-system)"
}

func hardware(h evidence.Hardware) string {
	switch h {
	case evidence.HardwareReal:
		return "real"
	case evidence.HardwareSimulated:
		return "SIMULATED"
	default:
		return "not identified"
	}
}

func (c Certificate) gates() section {
	s := section{Title: "Gates", Columns: []column{{"Gate", 15}, {"State", 15}, {"Observed", 35}, {"Figures with a limit", 35}}}
	for _, g := range c.Gates {
		var figures []string
		for _, f := range g.Figures {
			if f.Relation != "" {
				figures = append(figures, figure(f))
			}
		}
		s.Rows = append(s.Rows, []string{g.Name, or(g.State), or(g.Reason), or(strings.Join(figures, "; "))})
	}
	return s
}

func figure(f check.Figure) string {
	value := strings.TrimSpace(evidence.Quantity(f.Value, f.Unit) + " " + evidence.ShownUnit(f.Unit))
	return fmt.Sprintf("%s %s (%s %s)", f.Name, value, f.Relation, evidence.Quantity(f.Limit, f.Unit))
}

// values are the measured values.
func (f Figure) values() string {
	var out []string
	for _, v := range f.Measured {
		out = append(out, f.exact(v))
	}
	return strings.Join(out, ", ")
}

func (c Certificate) contractFigures() section {
	s := section{Title: "Figures of the contract", Columns: []column{{"Clause", 10}, {"Gate", 14}, {"Figure", 30}, {"Contract", 18}, {"Measured", 18}, {"", 10}}}
	for _, f := range c.Figures {
		met := "met"
		if !f.Met {
			met = "not met"
		}
		s.Rows = append(s.Rows, []string{or(f.Clause), f.Gate, f.Figure, f.limit(), or(f.values()), met})
	}
	if len(s.Rows) == 0 {
		return section{Title: s.Title, Text: "The terms have none: the figures of the gates are compared with the profile only."}
	}
	return s
}

func (c Certificate) deviations() section {
	s := section{Title: "Deviations and waivers", Columns: []column{{"Gate", 12}, {"Suspect", 17}, {"Deviation", 33}, {"Waiver", 26}, {"Expires", 12}}}
	for _, d := range c.Deviations {
		waiver, expires := "none", none
		switch {
		case d.Final:
			waiver = "cannot be waived"
		case d.Waiver != nil:
			waiver, expires = fmt.Sprintf("%s. Owner: %s", d.Waiver.Reason, d.Waiver.Owner), d.Waiver.Expires
			if d.Expired {
				expires += " (expired)"
			}
		}
		s.Rows = append(s.Rows, []string{d.Where(), d.Suspect, d.Text, waiver, expires})
	}
	if len(s.Rows) == 0 {
		return section{Title: s.Title, Text: "None."}
	}
	return s
}

func (c Certificate) machines() section {
	s := section{
		Title:   "Inventory: GPUs",
		Columns: []column{{"Host", 9}, {"Bus", 11}, {"Product", 17}, {"Serial", 12}, {"UUID", 36}, {"VBIOS, driver", 15}},
	}
	for _, m := range c.Inventory {
		for _, g := range m.GPUs {
			s.Rows = append(s.Rows, []string{m.name(), g.BusID, g.Product, or(g.Serial), g.UUID, or(g.VBIOS) + ", " + or(m.Driver)})
		}
	}
	nodes, gpus := c.Count()
	s.Text = fmt.Sprintf("%s with %s. Ordered: %s with %s %s.", count(nodes, "node"), count(gpus, "GPU"),
		count(c.Terms.Inventory.Nodes, "node"), count(c.Terms.Inventory.GPUs, "GPU"), c.Terms.Inventory.Product)
	return s
}

func (c Certificate) adapters() section {
	s := section{Title: "Inventory: network adapters", Columns: []column{{"Host", 20}, {"Adapter", 20}, {"Type", 20}, {"GUID", 24}, {"Firmware", 16}}}
	for _, m := range c.Inventory {
		for _, a := range m.HCAs {
			s.Rows = append(s.Rows, []string{m.name(), a.Name, a.Type, a.GUID, a.Firmware})
		}
	}
	if len(s.Rows) == 0 {
		return section{Title: s.Title, Text: "None were observed."}
	}
	return s
}

// name is the host, marked if the run leaves it out.
func (m Machine) name() string {
	if m.LeftOut {
		return m.Host + " (left out)"
	}
	return m.Host
}

// escaped escapes control characters in every text, and puts each on one line.
func (d document) escaped() document {
	line := func(s *string) { *s = strings.Join(strings.Fields(display.Escape(*s)), " ") }
	for _, s := range []*string{&d.Title, &d.Decision, &d.Summary, &d.Banner, &d.Footer} {
		line(s)
	}
	for i := range d.Sections {
		line(&d.Sections[i].Text)
		for _, row := range d.Sections[i].Rows {
			for j := range row {
				line(&row[j])
			}
		}
	}
	d.Sign = slices.Clone(d.Sign)
	for i := range d.Sign {
		for _, s := range []*string{&d.Sign[i].Name, &d.Sign[i].Role, &d.Sign[i].Organization} {
			line(s)
		}
	}
	return d
}

func or(s string) string {
	if s == "" {
		return none
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func when(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
