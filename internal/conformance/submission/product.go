package submission

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Product is the product file: the vendor's declarations about the product.
//
//	directory: turbo             # of the submission, in vX.Y
//	metadata:                    # as in the checklist; kubernetesVersion may be left out
//	  platformName: Turbo Encabulator
//	  ...
//	requirements:                # optional: additions to the results of the run
//	  gang_scheduling:
//	    evidence: [https://docs.example.com/gangs]
//	    notes: Volcano ships with the platform.
//
// It has no statuses: these come from the run.
type Product struct {
	Directory    string              `yaml:"directory" need:"true"`
	Metadata     map[string]string   `yaml:"metadata"`
	Requirements map[string]Addition `yaml:"requirements"`
}

// Addition is what the vendor adds to one requirement.
type Addition struct {
	// Evidence lists public URLs.
	Evidence []string `yaml:"evidence"`
	Notes    string   `yaml:"notes"`
}

var directoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// ReadProduct reads a product file; name is for messages. The error is a diag.List of all
// problems.
func ReadProduct(name string, data []byte, p catalog.Programme) (Product, error) {
	doc, problems := yamlstrict.Parse(name, data)
	if doc == nil {
		return Product{}, problems.Err()
	}
	var out Product
	problems = append(problems, firmText(doc.Decode(&out), doc)...)
	if out.Directory != "" && !directoryName.MatchString(out.Directory) {
		problems = append(problems, diag.BadValue.At(doc.ValueAt("directory"), "invalid directory %q", out.Directory).
			With("write a short name of the product: up to 63 letters, digits, dots, dashes and underscores, the first a letter or digit"))
	}
	m := readMetadata(doc, out.Metadata, p.Version, catalog.KubernetesVersion)
	problems = append(problems, m.problems...)
	out.Metadata = m.values
	out.Metadata[catalog.KubernetesVersion] = cmp.Or(out.Metadata[catalog.KubernetesVersion], "v"+p.Version)
	problems = append(problems, out.additions(doc, p)...)
	if err := problems.Sort().Err(); err != nil {
		return Product{}, err
	}
	return out, nil
}

func (out Product) additions(doc *yamlstrict.Doc, p catalog.Programme) diag.List {
	var problems diag.List
	var ids []string
	for _, r := range p.Requirements {
		ids = append(ids, r.ID)
	}
	for id, a := range out.Requirements {
		if !slices.Contains(ids, id) {
			found := ruleExtra.At(doc.At("requirements", id), "%s has no requirement %q", p.Version, id)
			if near := diag.Nearest(id, ids); near != "" {
				found = found.With("did you mean %q?", near)
			}
			problems = append(problems, found)
		}
		for i, link := range a.Evidence {
			if !isAddress(link) {
				problems = append(problems, ruleAddress.At(doc.ValueAt("requirements", id, "evidence", itoa(i)), "evidence of %s is %q: must be a public URL", id, link))
			}
		}
	}
	return problems
}
