package validate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
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
		Snapshot: demandOf(s, p),
	}
	c.Snapshot.Accelerator, c.Snapshot.Constraints = r.Criteria.Accelerator, r.Constraints
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

// demandOf is the part of the snapshot's demand that site and profile determine.
func demandOf(s *site.Site, p *profile.Profile) snapshot.Demand {
	d := snapshot.Demand{
		GPUs: int(p.Node.GPUs.Value), GPUsSource: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
		Products: p.GPU.Products, WithoutDRA: s.GPUStack.DRADriver == site.DRANone,
	}
	for _, n := range s.Inventory.Nodes {
		d.Nodes = append(d.Nodes, n.Name)
	}
	return d
}

// Differs lists the differences between the case and the site, the profile and the resolved recipe of its
// run: a case that demands less than they do is forged. unchecked is why the components are not compared: a
// recipe that an earlier version redacted may not be YAML.
func (c Case) Differs(s *site.Site, p *profile.Profile, recipe []byte) (out []string, unchecked string) {
	want := demandOf(s, p)
	var doc struct {
		Components map[string]struct {
			Enabled bool `json:"enabled"`
		} `json:"components"`
		DeploymentOrder []string `json:"deploymentOrder"`
	}
	var components, judged []string
	switch err := yaml.Unmarshal(recipe, &doc); {
	case err != nil && redact.Marked(recipe):
		unchecked = fmt.Sprintf("components not compared: recipe.yaml cannot be read since its secrets were redacted: %v", err)
	case err != nil:
		return []string{fmt.Sprintf("recipe.yaml cannot be read: %v", err)}, ""
	}
	for _, name := range doc.DeploymentOrder {
		if doc.Components[name].Enabled {
			components = append(components, name)
		}
	}
	for _, one := range c.Health {
		judged = append(judged, one.Name)
	}
	for _, f := range []struct {
		name, source string
		have, want   any
	}{
		{"nodes", "site.yaml", c.Snapshot.Nodes, want.Nodes},
		{"GPUs of a node", "profile.yaml", c.Snapshot.GPUs, want.GPUs},
		{"products", "profile.yaml", c.Snapshot.Products, want.Products},
		{"withoutDRA", "site.yaml", c.Snapshot.WithoutDRA, want.WithoutDRA},
		{"components", "recipe.yaml", judged, components},
	} {
		if unchecked != "" && f.source == "recipe.yaml" {
			continue
		}
		if have, want := fmt.Sprintf("%q", f.have), fmt.Sprintf("%q", f.want); have != want {
			out = append(out, fmt.Sprintf("%s are %v, %s has %v", f.name, f.have, f.source, f.want))
		}
	}
	return out, unchecked
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
