package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// good is a registry built in Go in which nothing is wrong.
func good() *config.Registry {
	r := func(name, slug, id string, cloud config.Cloud) config.Reservation {
		return config.Reservation{
			Name: name, Slug: slug, Cloud: cloud, ReservationID: id, Accelerator: "h100", GPUCount: 8, NodeCount: 2,
			ClusterConfigPath: "clusters/" + name + ".yaml", TestConfigDir: "tests/" + name + "/",
		}
	}
	out := &config.Registry{
		Reservations: []config.Reservation{r("a", "aa1", "cr-1", config.AWS), r("b", "ab1", "cr-1", config.AWS), r("g", "ga1", "projects/p/reservations/r", config.GCP), r("k", "ka1", "", config.Kind)},
		Capacities:   []config.Capacity{{ReservationID: "cr-1", NodeCount: 4}},
	}
	out.Reservations[0].DaytimeIntent = config.Training
	out.Reservations[2].DaytimeIntent = config.Inference
	out.Reservations[1].NightlyIntents = []config.Intent{config.Training, config.Inference}
	return out
}

func TestRegistryRules(t *testing.T) {
	t.Parallel()
	type r = config.Registry
	tests := []struct {
		name   string
		spoil  func(*r)
		rule   string // none: it stays valid
		at     string
		reason string
	}{
		{name: "nothing is wrong", spoil: func(*r) {}},
		{"no rows", func(r *r) { *r = config.Registry{} }, "no-reservations", "reservations", "no reservations"},
		{"name missing", func(r *r) { r.Reservations[1].Name = "" }, "missing", "reservations[1].name", `"name" of row 2`},
		{"slug missing", func(r *r) { r.Reservations[1].Slug = "" }, "missing", "reservations[1].slug", `"slug" of b`},
		{"cloud missing", func(r *r) { r.Reservations[3].Cloud = "" }, "missing", "reservations[3].cloud", `"cloud" of k`},
		{"accelerator missing", func(r *r) { r.Reservations[3].Accelerator = "" }, "missing", "reservations[3].accelerator", ""},
		{"cluster-config-path missing", func(r *r) { r.Reservations[0].ClusterConfigPath = "" }, "missing", "reservations[0].cluster-config-path", ""},
		{"test-config-dir missing", func(r *r) { r.Reservations[0].TestConfigDir = "" }, "missing", "reservations[0].test-config-dir", ""},
		{"name of capital letters", func(r *r) { r.Reservations[0].Name = "A" }, "bad-name", "reservations[0].name", `"A"`},
		{"name that begins with a digit", func(r *r) { r.Reservations[0].Name = "1a" }, "bad-name", "reservations[0].name", ""},
		{"name with a line behind it", func(r *r) { r.Reservations[0].Name = "a\n" }, "bad-name", "reservations[0].name", ""},
		{"name of 63", func(r *r) { r.Reservations[0].Name = strings.Repeat("a", 63) }, "", "", ""},
		{"name of 64", func(r *r) { r.Reservations[0].Name = strings.Repeat("a", 64) }, "bad-name", "reservations[0].name", ""},
		{"slug of four", func(r *r) { r.Reservations[0].Slug = "a234" }, "", "", ""},
		{"slug of five", func(r *r) { r.Reservations[0].Slug = "a2345" }, "bad-slug", "reservations[0].slug", ""},
		{"name taken", func(r *r) { r.Reservations[1].Name = "a" }, "duplicate", "reservations[1].name", `duplicate name "a": already used at reservations[0].name`},
		{"slug taken", func(r *r) { r.Reservations[3].Slug = "ga1" }, "duplicate", "reservations[3].slug", `at reservations[2].slug`},
		{"capacity twice", func(r *r) { r.Capacities = append(r.Capacities, r.Capacities[0]) }, "duplicate", "capacities[1].reservation-id", ""},
		{"cloud unknown", func(r *r) { r.Reservations[3].Cloud = "oracle" }, "unknown-cloud", "reservations[3].cloud", `"oracle"`},
		{"azure", func(r *r) { r.Reservations[3].Cloud = config.Azure }, "", "", ""},
		{"nightly intent unknown", func(r *r) { r.Reservations[1].NightlyIntents[1] = "x" }, "unknown-intent", "reservations[1].nightly-intents[1]", ""},
		{"nightly intent empty", func(r *r) { r.Reservations[1].NightlyIntents[1] = "" }, "unknown-intent", "reservations[1].nightly-intents[1]", ""},
		{"daytime intent unknown", func(r *r) { r.Reservations[0].DaytimeIntent = "x" }, "unknown-intent", "reservations[0].daytime-intent", ""},
		{"nightly intent twice", func(r *r) { r.Reservations[1].NightlyIntents[1] = "training" }, "duplicate-intent", "reservations[1].nightly-intents[1]", ""},
		{"two daytime rows of a cloud", func(r *r) { r.Reservations[1].DaytimeIntent = "inference" }, "daytime-twice", "reservations[1].daytime-intent", "b has a daytime-intent, and so does a"},
		{"a daytime row of each cloud", func(r *r) { r.Reservations[3].DaytimeIntent = "inference" }, "", "", ""},
		{"blank in an accelerator", func(r *r) { r.Reservations[3].Accelerator = "h 100" }, "bad-text", "reservations[3].accelerator", ""},
		{"line in a reservation-id", func(r *r) { r.Reservations[2].ReservationID = "a\nslug=x" }, "bad-text", "reservations[2].reservation-id", ""},
		{"invisible in a path", func(r *r) { r.Reservations[3].TestConfigDir = "a\u200bb" }, "bad-text", "reservations[3].test-config-dir", ""},
		{"commands in a reservation-id", func(r *r) { r.Reservations[2].ReservationID = "x|;1etouch${IFS}pwned;#" }, "bad-text", "reservations[2].reservation-id", `"|"`},
		{"substitution in a reservation-id", func(r *r) { r.Reservations[2].ReservationID = "$(id)" }, "bad-text", "reservations[2].reservation-id", `"$"`},
		{"quote in an accelerator", func(r *r) { r.Reservations[3].Accelerator = `h"100` }, "bad-text", "reservations[3].accelerator", ""},
		{"option as a reservation-id", func(r *r) { r.Reservations[2].ReservationID = "--profile=x" }, "bad-text", "reservations[2].reservation-id", "must not start with a dash"},
		{name: "a full name of Google's", spoil: func(r *r) {
			r.Reservations[2].ReservationID = "projects/p.example.com:x/zones/us-central1-a/reservations/r_1"
		}},
		{name: "an ARN", spoil: func(r *r) {
			r.Reservations[2].ReservationID = "arn:aws:ec2:us-east-1:123456789012:capacity-reservation/cr-0123"
		}},
		{"a very long text", func(r *r) { r.Reservations[3].Accelerator = strings.Repeat("h", 257) }, "bad-text", "reservations[3].accelerator", "257 bytes"},
		{"absolute path", func(r *r) { r.Reservations[0].TestConfigDir = "/tests" }, "bad-path", "reservations[0].test-config-dir", ""},
		{"path that leads out", func(r *r) { r.Reservations[0].ClusterConfigPath = "a/../../b" }, "bad-path", "reservations[0].cluster-config-path", ""},
		{"path of another system", func(r *r) { r.Reservations[0].ClusterConfigPath = `a\b` }, "bad-path", "reservations[0].cluster-config-path", ""},
		{"the repository itself", func(r *r) { r.Reservations[0].TestConfigDir = "./" }, "bad-path", "reservations[0].test-config-dir", ""},
		{"no GPUs", func(r *r) { r.Reservations[3].GPUCount = -8 }, "bad-count", "reservations[3].gpu-count", "invalid number of GPUs per node: -8"},
		{"GPUs not stated", func(r *r) { r.Reservations[3].GPUCount = 0 }, "missing", "reservations[3].gpu-count", ""},
		{"fewer than no nodes", func(r *r) { r.Reservations[3].NodeCount = -1 }, "bad-count", "reservations[3].node-count", ""},
		{"nodes not stated", func(r *r) { r.Reservations[3].NodeCount = 0 }, "", "", ""},
		{"capacity of no nodes", func(r *r) { r.Capacities[0].NodeCount = -4 }, "bad-count", "capacities[0].node-count", ""},
		{"capacity of nodes not stated", func(r *r) { r.Capacities[0].NodeCount = 0 }, "missing", "capacities[0].node-count", ""},
		{"one reservation on two clouds", func(r *r) { r.Reservations[1].Cloud = config.Azure }, "mixed-reservation", "reservations[1].cloud", "aws and azure"},
		{"one reservation of two accelerators", func(r *r) { r.Reservations[1].Accelerator = "b200" }, "mixed-reservation", "reservations[1].accelerator", ""},
		{"one reservation of two sizes", func(r *r) { r.Reservations[1].GPUCount = 4 }, "mixed-reservation", "reservations[1].gpu-count", ""},
		{"rows without a reservation-id share nothing", func(r *r) { r.Reservations[2].ReservationID = "" }, "", "", ""},
		{"more than there is", func(r *r) { r.Reservations[1].NodeCount = 3 }, "capacity", "capacities[0].node-count", "a, b use 5 nodes of cr-1 in total, but it has 4"},
		{"more than there is, in one row", func(r *r) { r.Capacities[0].NodeCount = 1; r.Reservations[1].ReservationID = "" }, "capacity", "capacities[0].node-count", "a use 2 nodes"},
		{"as much, and no capacity", func(r *r) { r.Reservations[1].NodeCount, r.Capacities = 3, nil }, "", "", ""},
		{"capacity of nothing", func(r *r) { r.Capacities[0].ReservationID = "cr-2" }, "capacity-of-nothing", "capacities[0].reservation-id", ""},
		{"capacity without a reservation-id", func(r *r) { r.Capacities[0].ReservationID = "" }, "missing", "capacities[0].reservation-id", ""},
		{"capacity, and not what a row takes", func(r *r) { r.Reservations[1].NodeCount = 0 }, "node-count", "reservations[1]", "b does not state"},
	}
	broken := map[string]bool{}
	for _, tt := range tests {
		broken[tt.rule] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := good()
			tt.spoil(r)
			err := r.Validate()
			if tt.rule == "" {
				if err != nil {
					t.Errorf("is not valid: %v", err)
				}
				return
			}
			list, ok := errors.AsType[diag.List](err)
			if !ok || len(list) != 1 {
				t.Fatalf("want one problem, got: %v", err)
			}
			if p := list[0]; p.Rule != tt.rule || p.Pos.String() != tt.at || !strings.Contains(p.Message, tt.reason) || p.Remedy == "" {
				t.Errorf("got %s, want %s at %s: %s", p, tt.rule, tt.at, tt.reason)
			}
		})
	}
	for _, rule := range config.RegistryRules() {
		if !broken[rule.Name] {
			t.Errorf("no test breaks rule %s", rule.Name)
		}
	}
}

func TestNoRegistryIsNotValid(t *testing.T) {
	t.Parallel()
	var none *config.Registry
	if none.Validate() == nil {
		t.Error("no registry is valid")
	}
}
