package schema_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/schema"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

const root = "../../.."

func TestPublishedSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	all, err := schema.All(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(root, schema.Dir, name))
		if err != nil {
			t.Fatalf("%v: go generate ./internal/recipe/schema writes it", err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not up to date: run go generate ./internal/recipe/schema (-published +types):\n%s", name, diff)
		}
	}
	published, err := filepath.Glob(filepath.Join(root, schema.Dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range published {
		if _, ok := all[filepath.Base(file)]; !ok && bytes.Contains(read(t, file), []byte(`"urn:firstlight:`)) {
			t.Errorf("%s is of no kind", file)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every key says what it is for, but for those whose name does.
func TestKeysAreDescribed(t *testing.T) {
	t.Parallel()
	all, err := schema.All(root)
	if err != nil {
		t.Fatal(err)
	}
	described := strings.Count(string(all["recipe-metadata.json"]), `"description"`)
	if described < 50 {
		t.Errorf("%d descriptions in the schema of overlays", described)
	}
}

func compiled(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	all, err := schema.All(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for name, data := range all {
		c := jsonschema.NewCompiler()
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(name, doc); err != nil {
			t.Fatal(err)
		}
		if out[name], err = c.Compile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// valid validates YAML with a schema.
func valid(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	doc, problems := yamlstrict.Parse("f.yaml", data)
	if doc == nil {
		t.Fatal(problems)
	}
	value, _ := doc.Value()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(decoded)
}

// Files that load satisfy their schema, in the small tree and in the shipped tree.
func TestTreesSatisfyTheSchemas(t *testing.T) {
	t.Parallel()
	schemas := compiled(t)
	for name, fsys := range map[string]fs.FS{"small": recipetest.Small(), "shipped": os.DirFS(filepath.Join(root, "recipes")), "generated": recipetest.Generate(50, 1)} {
		checked := 0
		err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			var of string
			switch {
			case strings.HasPrefix(path, "overlays/"):
				of = "recipe-metadata.json"
			case strings.HasPrefix(path, "mixins/"):
				of = "recipe-mixin.json"
			case path == "registry.yaml":
				of = "component-registry.json"
			case path == "validators/catalog.yaml":
				of = "validator-catalog.json"
			case strings.HasPrefix(path, "nodes/"):
				of = "node-profile.json"
			case strings.HasPrefix(path, "footprints/"):
				of = "footprint.json"
			case path == "accelerators.yaml":
				of = "accelerators.json"
			default:
				uncovered(t, fsys, path)
				return nil
			}
			data, err := fs.ReadFile(fsys, path)
			if err != nil {
				return err
			}
			checked++
			if err := valid(t, schemas[of], data); err != nil {
				t.Errorf("%s of %s: %v", path, name, err)
			}
			return nil
		})
		if err != nil || checked < 10 {
			t.Errorf("%d files of %s were checked: %v", checked, name, err)
		}
	}
}

// uncovered fails for a file of a kind that has a schema, and is not held to it.
func uncovered(t *testing.T, fsys fs.FS, path string) {
	t.Helper()
	data, err := fs.ReadFile(fsys, path)
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := yamlstrict.Parse(path, data)
	if filepath.Ext(path) != ".yaml" || doc == nil {
		return
	}
	switch doc.Text("kind") {
	case model.KindOverlay, model.KindMixin, model.KindRegistry, model.KindCatalog, model.KindNodeProfile, model.KindFootprint, model.KindAccelerators:
		t.Errorf("%s is held to no schema", path)
	}
}

// A resolved recipe satisfies its schema.
func TestRecipesSatisfyTheirSchema(t *testing.T) {
	t.Parallel()
	loaded, problems := tree.Load(recipetest.Small(), tree.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s := compiled(t)["recipe-result.json"]
	for _, o := range loaded.Recipes() {
		r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r.Recipe)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, s, data); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
}

// The schema of overlays and the strict reader agree on what is one.
func TestSchemaAndReaderAgree(t *testing.T) {
	t.Parallel()
	s := compiled(t)["recipe-metadata.json"]
	const head = "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\n"
	for text, want := range map[string]bool{
		head + "spec: {}":                                      true,
		head + "spec:\n":                                       false,
		head:                                                   false,
		head + "spec: {base: eks}":                             true,
		head + "spec: {base: null}":                            true,
		head + "spec: {base: [eks]}":                           false,
		head + "spec: {base: 1.2}":                             false,
		head + "spec: {bsae: eks}":                             false,
		head + "spec: {criteria: {service: eks}}":              true,
		head + "spec: {criteria: {nodes: 3}}":                  true,
		head + "spec: {criteria: {nodes: -3}}":                 false,
		head + "spec: {criteria: {nodes: 1.5}}":                false,
		head + "spec: {criteria: {gpu: h100}}":                 false,
		head + "spec: {criteria: null}":                        true,
		head + "spec: {mixins: a}":                             false,
		head + "spec: {mixins: [a, b]}":                        true,
		head + "spec: {mixins: [null]}":                        false,
		head + "spec: {constraints: [{name: a}]}":              false,
		head + "spec: {constraints: [{name: a, value: \"\"}]}": false,
		head + "spec: {constraints: [{name: a, value: b, severity: warning}]}":                  true,
		head + "spec: {constraints: [{name: a, value: b, severity: fatal}]}":                    false,
		head + "spec: {componentRefs: [{name: a, type: Helm, overrides: {x: {y: [1, null]}}}]}": true,
		head + "spec: {componentRefs: [{name: a, type: helm}]}":                                 false,
		head + "spec: {componentRefs: [{name: a, type: \"\"}]}":                                 true,
		head + "spec: {componentRefs: [{name: a, cleanup: maybe}]}":                             false,
		head + "spec: {componentRefs: [{version: v1}]}":                                         false,
		head + "spec: {validation: {deployment: {checks: [a], nodeSelection: {maxNodes: 2}}}}":  true,
		head + "spec: {validation: {deploymnt: {}}}":                                            false,
		head + "spec: {profile: {name: a, default: b, values: {b: {}}}}":                        true,
		head + "spec: {profile: {name: a, default: b, values: {b: null}}}":                      true,
		head + "spec: {profile: {name: a, default: b, values: {}}}":                             false,
		head + "spec: {resolution: {anything: [1]}}":                                            true,
		strings.Replace(head, "name: x", "name: \"\"", 1) + "spec: {}":                          false,
		strings.Replace(head, "metadata: {name: x}\n", "", 1) + "spec: {}":                      false,
	} {
		doc, problems := yamlstrict.Parse("f.yaml", []byte(text))
		if doc == nil {
			t.Fatal(problems)
		}
		var o model.Overlay
		problems = doc.Decode(&o)
		err := valid(t, s, []byte(text))
		if (len(problems) == 0) != want || (err == nil) != want {
			t.Errorf("%q: want %v; reader: %v; schema: %v", text, want, problems, err)
		}
	}
}

// Schema and reader also agree on node profiles, footprints and the other kinds of files.
func TestSchemaAndReaderAgreeOnOthers(t *testing.T) {
	t.Parallel()
	schemas := compiled(t)
	const (
		profile   = "kind: KWOKNodeProfile\napiVersion: aicr.run/v1\nmetadata: {name: x, labels: {provider: eks, nodeType: system}}\n"
		node      = "spec: {instanceType: a, arch: amd64, resources: {cpu: \"1\"}"
		footprint = "kind: Footprint\napiVersion: firstlight/v1\nmetadata: {name: x}\nspec: {source: documented, workloads: ["
		list      = "kind: Accelerators\napiVersion: firstlight/v1\naccelerators: ["
	)
	for text, want := range map[string]bool{
		profile + node + "}":                                          true,
		profile + node + ", count: -1}":                               false,
		profile + node + ", taints: [{key: a, effect: NoSchedule}]}":  true,
		profile + node + ", taints: [{key: a, effect: Never}]}":       false,
		profile + node + ", gpu: {product: a, count: 8}}":             true,
		profile + node + ", gpu: {product: a, count: 0}}":             false,
		profile + node + ", discovered: {a: {b: c}}}":                 true,
		profile + node + ", discovered: {a: [b]}}":                    false,
		profile + "spec: {instanceType: a, arch: x86, resources: {}}": false,
		strings.Replace(profile, "system", "gpu", 1) + node + "}":     false,
		footprint + "]}": true,
		footprint + "{kind: Deployment, name: a, class: system}]}": true,
		footprint + "{kind: ReplicaSet, name: a, class: system}]}": false,
		footprint + "{kind: Deployment, name: a}]}":                false,
		footprint + "{kind: Job, name: a, class: any, pod: {requests: {cpu: 1, memory: 1Gi}}, valuesFrom: {replicas: a, resources: [b, c], affinity: {firstOf: [d]}}}]}": true,
		footprint + "{kind: Job, name: a, class: any, pod: {tolerations: {}}}]}":                                                                                         false,
		footprint + "], publishes: [{onNodesWith: {a: b}, labels: {}}]}":                                                                                                 false,
		footprint + "], chart: {repository: a, name: b, version: c, digest: d}}":                                                                                         true,
		footprint + "], renders: [{values: a, workloads: [{kind: DaemonSet, name: b}]}]}":                                                                                true,
		strings.Replace(footprint, "firstlight/v1", "example.com/v1", 1) + "]}":                                                                                          true, // the group is not for this reader
		list + "{name: a, arch: [amd64], products: [b], maxPerNode: 8}]":                                                                                                 true,
		list + "{name: a, arch: [amd64], products: [b], maxPerNode: 0}]":                                                                                                 false,
		list + "]": false,
		list + "{name: a, arch: [amd64], products: [b], maxPerNode: 8, workload: [{providers: [gke], source: s, tolerations: [{key: a, operator: Exists}]}]}]": true,
		list + "{name: a, arch: [amd64], products: [b], maxPerNode: 8, workload: [{providers: [gke]}]}]":                                                       false,
	} {
		doc, problems := yamlstrict.Parse("f.yaml", []byte(text))
		if doc == nil {
			t.Fatal(text, problems)
		}
		into, of := any(&model.NodeProfile{}), "node-profile.json"
		switch doc.Text("kind") {
		case model.KindFootprint:
			into, of = &model.Footprint{}, "footprint.json"
		case model.KindAccelerators:
			into, of = &model.Accelerators{}, "accelerators.json"
		}
		problems = doc.Decode(into)
		err := valid(t, schemas[of], []byte(text))
		if other := strings.Contains(text, "example.com"); other && err == nil || !other && (err == nil) != want || (len(problems) == 0) != want {
			t.Errorf("%q: want %v; reader: %v; schema: %v", text, want, problems, err)
		}
	}
}
