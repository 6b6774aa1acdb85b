package certificate

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Terms is what the parties agreed.
type Terms struct {
	Contract    Contract    `json:"contract" yaml:"contract" need:"true"`
	Inventory   Ordered     `json:"inventory" yaml:"inventory" need:"true"`
	Figures     []Term      `json:"figures,omitempty" yaml:"figures"`
	Waivers     []Waiver    `json:"waivers,omitempty" yaml:"waivers"`
	Signatories []Signatory `json:"signatories" yaml:"signatories" need:"true"`
}

// Contract names the contract and its parties.
type Contract struct {
	Reference string `json:"reference" yaml:"reference" need:"true"`
	Supplier  string `json:"supplier" yaml:"supplier" need:"true"`
	Customer  string `json:"customer" yaml:"customer" need:"true"`
}

// Ordered is the hardware that the contract is about.
type Ordered struct {
	Nodes int `json:"nodes" yaml:"nodes" need:"true" min:"1"`
	GPUs  int `json:"gpus" yaml:"gpus" need:"true" min:"1"`
	// Product is the name that nvidia-smi prints.
	Product string `json:"product" yaml:"product" need:"true"`
}

// Term is the contract's limit of one figure of a gate, as the report names it.
type Term struct {
	Gate    string   `json:"gate" yaml:"gate" need:"true"`
	Figure  string   `json:"figure" yaml:"figure" need:"true"`
	Unit    string   `json:"unit" yaml:"unit" need:"true"`
	AtLeast *float64 `json:"atLeast,omitempty" yaml:"atLeast"`
	AtMost  *float64 `json:"atMost,omitempty" yaml:"atMost"`
	// Clause of the contract.
	Clause string `json:"clause,omitempty" yaml:"clause"`
}

// Waiver accepts one deviation until its expiry.
type Waiver struct {
	// Gate is empty for a deviation of the whole run.
	Gate    string `json:"gate,omitempty" yaml:"gate"`
	Suspect string `json:"suspect" yaml:"suspect" need:"true"`
	// Says is the deviation's text, or words of it that no other one of the suspect has: with the node
	// that is left out, or the measured values.
	Says   string `json:"says" yaml:"says" need:"true"`
	Reason string `json:"reason" yaml:"reason" need:"true"`
	Owner  string `json:"owner" yaml:"owner" need:"true"`
	// Expires is a date or a time; a date ends with its day in UTC.
	Expires string `json:"expires" yaml:"expires" need:"true"`
}

// Signatory signs the printed certificate.
type Signatory struct {
	Name         string `json:"name" yaml:"name" need:"true"`
	Organization string `json:"organization" yaml:"organization" need:"true"`
	Role         string `json:"role" yaml:"role" need:"true"`
}

// ParseTerms reads the terms from a file's content. The error is a diag.List with every problem.
func ParseTerms(file string, data []byte) (Terms, error) {
	var t Terms
	doc, problems := yamlstrict.Parse(file, data)
	if len(problems) > 0 {
		return t, problems
	}
	problems = doc.Decode(&t)
	for i, f := range t.Figures {
		at := doc.At("figures", index(i))
		if (f.AtLeast == nil) == (f.AtMost == nil) {
			problems = append(problems, diag.BadValue.At(at, "figure %q needs one of atLeast and atMost", f.Figure))
		}
	}
	for i, w := range t.Waivers {
		if _, err := w.end(); err != nil && w.Expires != "" {
			problems = append(problems, diag.BadValue.At(doc.ValueAt("waivers", index(i), "expires"), "%v", err))
		}
	}
	if err := problems.Err(); err != nil {
		return t, err
	}
	return t, nil
}

// end is the first moment at which the waiver is no longer in force.
func (w Waiver) end() (time.Time, error) {
	at, err := site.ParseTime(w.Expires)
	if err == nil && !strings.Contains(w.Expires, "T") {
		at = at.AddDate(0, 0, 1)
	}
	return at, err
}

func index(i int) string { return strconv.Itoa(i) }
