package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// States that nvidia-smi -q -x reports in elements that were not read, so that a GPU with them was read
// as healthy: each is one element of the first GPU of v13.xml.
func TestParseSMIReadsEachBadState(t *testing.T) {
	t.Parallel()
	v13 := fixture(t, "v13.xml")
	const (
		repair   = "<tpc_repair_pending>No</tpc_repair_pending>"
		rows     = "</remapped_rows>"
		recovery = "<gpu_recovery_action>None</gpu_recovery_action>"
		mig      = "<mig_devices>\n\t\t\tNone\n\t\t</mig_devices>"
	)
	for name, tt := range map[string]struct {
		old, new string
		want     func(g *nvidia.GPU)
	}{
		// Driver 615 on Rubin (NVIDIA/k8s-test-infra, testdata/hardware/qx-vrnvl72.xml).
		"memory that cannot be repaired": {repair, repair + "<unrepairable_memory>Yes</unrepairable_memory>", func(g *nvidia.GPU) { g.UnrepairableMemory = new(true) }},
		"all memory can be repaired":     {repair, repair + "<unrepairable_memory>No</unrepairable_memory>", func(g *nvidia.GPU) { g.UnrepairableMemory = new(false) }},
		"not supported by the board":     {repair, repair + "<unrepairable_memory>N/A</unrepairable_memory>", func(*nvidia.GPU) {}},
		"a bank remapping is pending": {rows, rows + "<remapped_banks><bank_remapper_active_remappings>0</bank_remapper_active_remappings><bank_remapper_pending>Yes</bank_remapper_pending></remapped_banks>",
			func(g *nvidia.GPU) { g.BankRemapPending = new(true) }},
		// Cards before Ampere retire pages (influxdata/telegraf, tesla-t4.xml).
		"a page retirement is pending": {rows, rows + "<retired_pages><pending_retirement>Yes</pending_retirement></retired_pages>", func(g *nvidia.GPU) { g.PageRetirementPending = new(true) }},
		"a page retirement is pending, by its older name": {rows, rows + "<retired_pages><pending_blacklist>Yes</pending_blacklist></retired_pages>",
			func(g *nvidia.GPU) { g.PageRetirementPending = new(true) }},
		"no page retirement is pending": {rows, rows + "<retired_pages><pending_blacklist>No</pending_blacklist><pending_retirement>No</pending_retirement></retired_pages>",
			func(g *nvidia.GPU) { g.PageRetirementPending = new(false) }},
		"ECC is off after the next boot": {"<pending_ecc>Enabled", "<pending_ecc>Disabled", func(g *nvidia.GPU) { g.ECCPending = "Disabled" }},
		// Drivers before 570: "Either of these being Yes indicates that an unrecoverable error has
		// occurred" (nvidia-smi --help-query-gpu, reset_status).
		"drain and reset recommended": {recovery, "<gpu_reset_status><reset_required>No</reset_required><drain_and_reset_recommended>Yes</drain_and_reset_recommended></gpu_reset_status>",
			func(g *nvidia.GPU) { g.RecoveryAction = "Drain and Reset Recommended" }},
		"reset required, drain and reset recommended": {recovery, "<gpu_reset_status><reset_required>Yes</reset_required><drain_and_reset_recommended>Yes</drain_and_reset_recommended></gpu_reset_status>",
			func(g *nvidia.GPU) { g.RecoveryAction = "GPU Reset Required" }},
		"only drain and reset reported": {recovery, "<gpu_reset_status><reset_required>N/A</reset_required><drain_and_reset_recommended>No</drain_and_reset_recommended></gpu_reset_status>",
			func(g *nvidia.GPU) { g.RecoveryAction = "" }},
		"reset not required, drain not supported": {recovery, "<gpu_reset_status><reset_required>No</reset_required><drain_and_reset_recommended>N/A</drain_and_reset_recommended></gpu_reset_status>",
			func(*nvidia.GPU) {}},
		// A virtual machine with vGPU (NVIDIA/gpu-operator issue 628).
		"a vGPU without licence": {recovery, recovery + "<vgpu_software_licensed_product><licensed_product_name>NVIDIA Virtual Compute Server</licensed_product_name><license_status>Unlicensed (Restricted)</license_status></vgpu_software_licensed_product>",
			func(g *nvidia.GPU) { g.License = "Unlicensed (Restricted)" }},
		// The counts of a partitioned GPU are those of its instances (netdata/netdata, a100-sxm4-mig.xml).
		"an error in a MIG device": {mig, "<mig_devices><mig_device><gpu_instance_id>1</gpu_instance_id><compute_instance_id>0</compute_instance_id><ecc_error_count><volatile_count><sram_uncorrectable>2</sram_uncorrectable></volatile_count></ecc_error_count></mig_device></mig_devices>",
			func(g *nvidia.GPU) {
				g.MIG = &nvidia.MIG{Devices: []nvidia.MIGDevice{{GPUInstance: new(int64(1)), ComputeInstance: new(int64(0)), SRAMUncorrectable: new(int64(2))}}}
			}},
		// Texts of nvmlErrorString in brackets.
		"a figure that NVML cannot read": {"<current_ecc>Enabled", "<current_ecc>[Corrupted infoROM]", func(g *nvidia.GPU) {
			g.ECC, g.Errors = "", []string{"current_ecc: [Corrupted infoROM]"}
		}},
		"a name that NVML cannot read": {"<product_name>NVIDIA H100 80GB HBM3", "<product_name>[Function Not Found]", func(g *nvidia.GPU) {
			g.Product, g.Errors = "", []string{"product_name: [Function Not Found]"}
		}},
		"a lost GPU without address": {"<pci_bus_id>00000000:1B:00.0", "<pci_bus_id>GPU is lost", func(g *nvidia.GPU) {
			g.Errors = []string{"pci_bus_id: GPU is lost"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			healthy, err := nvidia.ParseSMI([]byte(v13))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(v13, tt.old, tt.new, 1)
			if text == v13 {
				t.Fatal("the document is unchanged")
			}
			got, err := nvidia.ParseSMI([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			want := healthy.GPUs[0]
			tt.want(&want)
			if diff := cmp.Diff(want, got.GPUs[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// From driver 615 on, driver_version and cuda_version are deprecated and announced to be removed
// (NVIDIA/k8s-test-infra, testdata/hardware/qx-vrnvl72.xml).
func TestParseSMIVersionsByTheirNewNames(t *testing.T) {
	t.Parallel()
	v13 := fixture(t, "v13.xml")
	both := strings.Replace(v13, "<driver_version>580.105.08</driver_version>", "<driver_version>580.105.08</driver_version>\n\t<!-- driver_version is deprecated -->\n\t<kmd_version>580.105.08</kmd_version>", 1)
	renamed := strings.NewReplacer("driver_version>", "kmd_version>", "cuda_version>", "cuda_umd_version>").Replace(v13)
	for name, in := range map[string]string{"both names": both, "new names only": renamed} {
		got, err := nvidia.ParseSMI([]byte(in))
		if err != nil || got.Driver != "580.105.08" || got.CUDA != "13.0" {
			t.Errorf("%s: driver %q, CUDA %q, %v", name, got.Driver, got.CUDA, err)
		}
	}
}
