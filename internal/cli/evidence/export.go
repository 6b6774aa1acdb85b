package evidence

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/nvcre"
	"github.com/firstlight/firstlight/internal/profile"
)

// exportFormats are those that a run can be written in for others.
var exportFormats = []string{"ctrf", "junit", "nvcre"}

func newEvidenceExport(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write a run in a form that other tools read: CTRF, JUnit, NVIDIA's Cluster Readiness Engine",
		Long: `export prints a run's verdicts as CTRF (https://ctrf.io), as JUnit XML, or as the
results JSON of NVIDIA's Cluster Readiness Engine (nvcre). The first two are in
every finished run already. The last has no place to say that hardware was
simulated: the platform of such a run is "simulated", whatever --platform says.`,
		Example: `  firstlight evidence export evidence/20261121-014233-7f3a --format ctrf
  firstlight evidence export evidence/20261121-014233-7f3a --format nvcre --platform onprem`,
		Args: cobra.ExactArgs(1),
	}
	format := cmd.Flags().String("format", "", "one of "+strings.Join(exportFormats, ", ")+" (required)")
	platform := cmd.Flags().String("platform", "unknown", "for nvcre: the cluster's platform, as that engine calls it (aws, gcp, azure, oci, onprem, ...)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !slices.Contains(exportFormats, *format) {
			return usage("--format %q is not one of %s", *format, strings.Join(exportFormats, ", "))
		}
		dir, err := bundleDir(args[0])
		if err != nil {
			return err
		}
		var data []byte
		switch *format {
		case "ctrf":
			data, err = reportFile(dir, "ctrf.json")
		case "junit":
			data, err = reportFile(dir, "junit.xml")
		default:
			data, err = nvcreReport(dir, *platform)
		}
		if err != nil {
			return err
		}
		if _, err := s.Out.Write(data); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	}
	return cmd
}

// reportFile is a report that a finished run has.
func reportFile(dir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, usage("the run has no %s, which a run that was interrupted has not: %w", name, err)
	}
	return data, nil
}

func nvcreReport(dir, platform string) ([]byte, error) {
	b, err := evidence.Load(dir)
	if err != nil {
		return nil, usage("%w", err)
	}
	site, prof, err := accept.Used(b)
	if err != nil {
		return nil, usage("the run is of no cluster with an inventory: %w", err)
	}
	f := nvcre.Fleet{Name: site.Name, Platform: platform, GPU: architecture(prof)}
	for _, n := range site.Inventory.Nodes {
		f.Nodes = append(f.Nodes, nvcre.Node{Name: n.Name, Rack: n.Rack})
	}
	r, err := nvcre.Build(b, f)
	if err != nil {
		return nil, usage("%w", err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	return append(data, '\n'), nil
}

var architectures = regexp.MustCompile(`\b(GB300|GB200|B300|B200|H200|H100|H20|A100|L40S|L40)\b`)

// architecture is what that engine calls the GPU: h100.
func architecture(p *profile.Profile) string {
	for _, product := range p.GPU.Products {
		if m := architectures.FindString(product); m != "" {
			return strings.ToLower(m)
		}
	}
	return "unknown"
}
