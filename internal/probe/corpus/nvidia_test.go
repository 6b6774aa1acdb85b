package corpus

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// all are the first groups of every match.
func all(pattern, text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out = append(out, strings.TrimSpace(m[1]))
	}
	return out
}

func word(name string, values ...any) string {
	return name + strings.TrimSuffix(fmt.Sprintln(append([]any{":"}, values...)...), "\n")
}

// perGPU are the values of an element directly below its parent, "" where the
// card has none.
func perGPU(cards []string, pattern string) []string {
	var out []string
	for _, card := range cards {
		found := append(all(pattern, card), "")[0]
		if slices.Contains([]string{"N/A", "GPU is lost", "Unknown Error", "Requested functionality has been deprecated"}, found) {
			found = ""
		}
		out = append(out, found)
	}
	return out
}

func readSMI(text string) (got, want []string, err error) {
	log, err := nvidia.ParseSMI([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	got = append(got, word("driver", log.Driver), word("attached", log.Attached))
	for _, g := range log.GPUs {
		pending, temperature, memory := "", "", ""
		if g.Remap != nil && g.Remap.Pending != nil {
			pending = map[bool]string{true: "Yes", false: "No"}[*g.Remap.Pending]
		}
		if g.TemperatureC != nil {
			temperature = fmt.Sprintf("%g C", *g.TemperatureC)
		}
		if g.MemoryTotalMiB != nil {
			memory = fmt.Sprintf("%d MiB", *g.MemoryTotalMiB)
		}
		got = append(got, word("gpu", g.UUID, g.Product, g.Serial, memory, temperature, pending, g.FabricState, g.FabricClique, g.FabricCluster,
			g.FabricHealth["summary"], g.FabricHealth["bandwidth"], g.FabricHealth["route_unhealthy"]), migOf(g.MIG))
	}
	want = append(want, word("driver", all(`<driver_version>(.*?)<`, text)[0]), word("attached", all(`<attached_gpus>(.*?)<`, text)[0]))
	whole := regexp.MustCompile(`(?s)<mig_devices>.*?</mig_devices>`).ReplaceAllString(text, "") // parts of a card have figures of their own
	cards, uncut := strings.Split(whole, "<gpu id=")[1:], strings.Split(text, "<gpu id=")[1:]
	var columns [][]string
	for _, pattern := range []string{
		`<uuid>(.*?)<`, `<product_name>(.*?)<`, `<serial>(.*?)<`, `(?s)<fb_memory_usage>\s*<total>(.*?)<`, `<gpu_temp>(.*?)<`,
		`<remapped_row_pending>(.*?)<`, `(?s)<fabric>\s*<state>(.*?)<`, `<cliqueId>(.*?)<`, `<clusterUuid>(.*?)<`, `(?s)<health>.*?<summary>(.*?)<`, `(?s)<health>.*?<bandwidth>(.*?)<`, `<route_unhealthy>(.*?)<`,
	} {
		columns = append(columns, perGPU(cards, pattern))
	}
	for i := range cards {
		var values []any
		for _, column := range columns {
			values = append(values, column[i])
		}
		want = append(want, word("gpu", values...), migIn(uncut[i]))
	}
	return got, want, nil
}

func readNVLinks(text string) (got, want []string, err error) {
	gpus, err := nvidia.ParseNVLinks([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	for _, g := range gpus {
		got = append(got, word("gpu", g.Index, g.UUID, g.AllInactive))
		for _, l := range g.Links {
			got = append(got, word("link", l.Number, l.GBps))
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "GPU ") {
			want = append(want, word("gpu", all(`^GPU (\d+)`, line)[0], all(`UUID: ([^)]+)`, line)[0], strings.Contains(strings.ToLower(line), "all links are inactive")))
		} else if strings.HasPrefix(line, "Link ") {
			rate := append(all(`([\d.]+) GB/s`, line), "0")[0]
			want = append(want, word("link", all(`^Link (\d+)`, line)[0], rate))
		}
	}
	return got, want, nil
}

// readTrouble reads messages; an output without any has none in both readings.
func readTrouble(text string) (got, want []string, err error) {
	t, err := nvidia.ParseSMIErrors([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	got, want = []string{word("nvml", t.NVML)}, []string{word("nvml", strings.Join(all(`(.*(?:Failed to initialize NVML|No devices were found).*)`, text), ""))}
	for _, l := range t.Lost {
		got = append(got, word("lost", l.BusID))
	}
	for _, bus := range all(`Unable to determine the device handle for GPU\s?([0-9A-Fa-f:.]+[0-9A-Fa-f])`, text) {
		want = append(want, word("lost", strings.ToLower(bus)))
	}
	return got, want, nil
}

func readDCGM(text string) (got, want []string, err error) {
	d, err := nvidia.ParseDiag([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	if len(d.Tests) == 0 {
		return nil, nil, fmt.Errorf("no tests: %s", d.RuntimeError)
	}
	for _, test := range d.Tests {
		got = append(got, word("test", test.Name))
		for _, r := range test.Results {
			got = append(got, word("result", strings.ToLower(string(r.Status)), len(r.Warnings)))
		}
	}
	var doc map[string]struct {
		Categories []struct {
			Tests []*struct {
				Name    string
				Results []map[string]any
			}
		} `json:"test_categories"`
	}
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &doc); err != nil {
		return nil, nil, fmt.Errorf("the plain reading: %w", err)
	}
	for _, root := range doc {
		for _, c := range root.Categories {
			for _, test := range c.Tests {
				if test == nil {
					continue
				}
				want = append(want, word("test", test.Name))
				for _, r := range test.Results {
					ids, _ := r["gpu_ids"].(string)
					warnings := 0
					switch w := r["warnings"].(type) {
					case []any:
						warnings = len(w)
					case string:
						warnings = 1
					}
					for range max(1, len(strings.Split(ids, ","))) {
						want = append(want, word("result", strings.ToLower(fmt.Sprint(r["status"])), warnings))
					}
				}
			}
		}
	}
	return got, want, nil
}
