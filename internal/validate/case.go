package validate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate/health"
	"github.com/firstlight/firstlight/internal/validate/resources"
	"github.com/firstlight/firstlight/internal/validate/snapshot"
)

// InputFile is the file of a run that holds its Case.
const InputFile = "validation.json"

// Case is what a cluster is validated against, in addition to its site and profile. It holds
// everything of the recipe that a judge needs.
type Case struct {
	// Order of the steps, proven for the GPUs of the site.
	Order pipeline.Order `json:"order"`
	// Version of the conformance catalog.
	Version string `json:"version"`
	// Recipe is the name of the recipe, Digest that of the resolved recipe.
	Recipe string `json:"recipe"`
	Digest string `json:"digest"`
	// Disruptive allows what disturbs a cluster in use.
	Disruptive bool `json:"disruptive,omitempty"`
	// NotApplicable maps requirements that do not apply to the platform to the reason.
	NotApplicable map[string]string `json:"notApplicable,omitempty"`

	Snapshot  snapshot.Demand    `json:"snapshot"`
	Resources []resources.Object `json:"resources"`
	Health    []health.Component `json:"health"`
}

// Of builds the case of the recipe called name on a site.
func Of(name string, r *resolve.Result, s *site.Site, p *profile.Profile, o pipeline.Order) (Case, error) {
	digest, err := r.Digest()
	if err != nil {
		return Case{}, fmt.Errorf("build the case of %s: %w", name, err)
	}
	c := Case{
		Order: o, Recipe: name, Digest: digest, Health: health.Components(r),
		Snapshot: snapshot.Demand{
			GPUs: int(p.Node.GPUs.Value), GPUsSource: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
			Products: p.GPU.Products, Accelerator: r.Criteria.Accelerator, Constraints: r.Constraints,
		},
	}
	c.Snapshot.WithoutDRA = s.GPUStack.DRADriver == site.DRANone
	for _, n := range s.Inventory.Nodes {
		c.Snapshot.Nodes = append(c.Snapshot.Nodes, n.Name)
	}
	if accelerator := r.Criteria.Accelerator; accelerator != "" {
		shapes, problems := nodeprofile.Load(r.Tree())
		if err := problems.Err(); err != nil {
			return Case{}, fmt.Errorf("build the case of %s: %w", name, err)
		}
		if a, ok := shapes.Accelerator(accelerator); ok {
			c.Snapshot.RecipeProducts, c.Snapshot.Arch = a.Products, a.Arch
		}
	}
	footprints, problems := footprint.Load(r.Tree())
	if err := problems.Err(); err != nil {
		return Case{}, fmt.Errorf("build the case of %s: %w", name, err)
	}
	if c.Resources, problems = resources.Expect(r, footprints); problems.Err() != nil {
		return Case{}, fmt.Errorf("build the case of %s: %w", name, problems.Err())
	}
	return c, nil
}

// Encode encodes the case as InputFile.
func (c Case) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the case: %w", err)
	}
	return append(data, '\n'), nil
}

// CaseOf reads the case of a run; ok is false if the run is not a validation.
func CaseOf(b *evidence.Bundle) (c Case, ok bool, err error) {
	data, ok := b.Inputs[InputFile]
	if !ok {
		return Case{}, false, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := cmp.Or(strictjson.Check(data), dec.Decode(&c)); err != nil {
		return Case{}, true, fmt.Errorf("read %s of run %s: %w", InputFile, b.Header.Run, err)
	}
	return c, true, nil
}
