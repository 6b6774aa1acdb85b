package instances

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestShippedTypes(t *testing.T) {
	t.Parallel()
	types, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]any{}
	for _, x := range types {
		got[x.Name] = [2]any{x.Architecture.Value, x.GPUs.Value}
	}
	want := map[string][2]any{
		"g5.xlarge": {"amd64", 1.0}, "g5.2xlarge": {"amd64", 1.0}, "p5.48xlarge": {"amd64", 8.0}, "p6e-gb200.36xlarge": {"arm64", 4.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Karpenter's provider accepts missing fields silently, so the file must have none. Spot offerings
// were in it, which no NodePool of the chain can select (internal/autoscale/render).
func TestKWOKFileIsComplete(t *testing.T) {
	t.Parallel()
	types, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := KWOK(types)
	if err != nil {
		t.Fatal(err)
	}
	var file []struct {
		Name             string
		Architecture     string
		OperatingSystems []string
		Resources        map[string]resource.Quantity
		Offerings        []struct {
			Price        float64
			Available    bool
			Requirements []struct {
				Key, Operator string
				Values        []string
			}
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file) != len(types) {
		t.Fatalf("%d types in the file, want %d", len(file), len(types))
	}
	for i, f := range file {
		if f.Name != types[i].Name || f.Architecture == "" || len(f.OperatingSystems) != 1 || f.OperatingSystems[0] != "linux" {
			t.Errorf("type %+v is not %s of linux", f, types[i].Name)
		}
		for _, r := range []string{"cpu", "memory", "nvidia.com/gpu"} {
			if q := f.Resources[r]; q.Sign() <= 0 {
				t.Errorf("%s: %s is %s", f.Name, r, q.String())
			}
		}
		prices := map[string]float64{}
		for _, o := range f.Offerings {
			words := map[string]string{}
			for _, r := range o.Requirements {
				if r.Operator != "In" || len(r.Values) != 1 {
					t.Errorf("%s: requirement %+v does not have one value", f.Name, r)
					continue
				}
				words[r.Key] = r.Values[0]
			}
			if len(words) != 2 || words["karpenter.sh/capacity-type"] != "on-demand" || words["topology.kubernetes.io/zone"] == "" || !o.Available {
				t.Errorf("%s: no NodePool can select the offering %+v", f.Name, o)
			}
			prices[words["karpenter.sh/capacity-type"]+" "+words["topology.kubernetes.io/zone"]] = o.Price
		}
		if len(prices) != len(f.Offerings) {
			t.Errorf("%s: duplicate offerings", f.Name)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	good := string(data)
	if _, err := parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"vendor's spelling":  {"{value: amd64,", "{value: x86_64,", "architecture"},
		"no zone":            {"[us-east-1a, us-east-1b]", "[]", "zone"},
		"no GPUs":            {"gpus: {value: 1,", "gpus: {value: 0,", "gpus"},
		"half a GPU":         {"gpus: {value: 1,", "gpus: {value: 0.5,", "gpus"},
		"no price":           {"{value: 1.006,", "{value: 0,", "onDemand"},
		"other unit":         {"unit: GiB", "unit: GB", "memory"},
		"no source":          {`source: "AWS EC2 G5, g5.xlarge"`, `source: ""`, "source"},
		"unknown key":        {"gpus:", "accelerators:", "accelerators"},
		"the same name":      {"name: g5.2xlarge", "name: g5.xlarge", "duplicate"},
		"no name":            {"name: g5.2xlarge", `name: ""`, "name"},
		"no types":           {good, "types: []", "no types"},
		"GPU without a name": {"gpu: {value: NVIDIA A10G,", `gpu: {value: "",`, "GPU"},
	} {
		changed := strings.Replace(good, c.from, c.to, 1)
		if changed == good {
			t.Errorf("%s: no change", name)
		}
		if _, err := parse([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %s", name, err, c.want)
		}
	}
}
