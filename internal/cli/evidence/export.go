package evidence

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/nvcre"
	"github.com/firstlight/firstlight/internal/profile"
)

var exportFormats = []string{"ctrf", "junit", "nvcre"}

func newExport(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Convert a run to CTRF, JUnit XML or NVIDIA Cluster Readiness Engine results",
		Long: `Print a run's verdicts as CTRF (https://ctrf.io), as JUnit XML, or as the results JSON of
NVIDIA's Cluster Readiness Engine (nvcre). Every finished run already has the first two.
The nvcre format cannot mark simulated hardware: the platform of a run on simulated
hardware is "simulated", that of a run whose cluster was not identified "unknown",
regardless of --platform.`,
		Example: `  firstlight evidence export evidence/20261121-014233-7f3a --format ctrf
  firstlight evidence export evidence/20261121-014233-7f3a --format nvcre --platform onprem`,
		Args: cobra.ExactArgs(1),
	}
	format := cmd.Flags().String("format", "", "output format: "+strings.Join(exportFormats, ", ")+" (required)")
	platform := cmd.Flags().String("platform", "unknown", "platform for nvcre: aws, gcp, azure, oci, onprem, ...")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !slices.Contains(exportFormats, *format) {
			return cmdutil.UsageErrorf("unknown --format %q: want one of %s", *format, strings.Join(exportFormats, ", "))
		}
		dir, err := cmdutil.RunDir(args[0])
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

// reportFile reads a report of a finished run.
func reportFile(dir, name string) ([]byte, error) {
	data, err := evidence.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, cmdutil.UsageErrorf("the run has no %s, maybe because it was interrupted: %w", name, err)
	}
	return data, nil
}

func nvcreReport(dir, platform string) ([]byte, error) {
	b, err := evidence.Load(dir)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	site, prof, err := accept.Used(b)
	if err != nil {
		return nil, cmdutil.UsageErrorf("the run has no inventory: %w", err)
	}
	f := nvcre.Fleet{Name: site.Name, Platform: platform, GPU: architecture(prof)}
	for _, n := range site.Inventory.Nodes {
		f.Nodes = append(f.Nodes, nvcre.Node{Name: n.Name, Rack: n.Rack})
	}
	r, err := nvcre.Build(b, f)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	return append(data, '\n'), nil
}

var architectures = regexp.MustCompile(`\b(GB300|GB200|B300|B200|H200|H100|H20|A100|L40S|L40)\b`)

// architecture is the GPU in the words of nvcre: h100.
func architecture(p *profile.Profile) string {
	for _, product := range p.GPU.Products {
		if m := architectures.FindString(product); m != "" {
			return strings.ToLower(m)
		}
	}
	return "unknown"
}
