package exporter

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/world"
)

// family is one metric: its help in dcgm-exporter's default counters and the value for a GPU; ok
// is false if DCGM has no value.
type family struct {
	name, kind, help string
	value            func(*reading) (text string, ok bool)
}

// reading is the state of one GPU.
type reading struct {
	node *world.Node
	gpu  world.GPU
}

// busy is the GPU's utilization, 0..1.
func (r *reading) busy() float64 { return float64(r.gpu.Util) / 100 }

// temperature is the reported temperature.
func temperature(r *reading) int {
	if r.node.Exporter.TempZero {
		return 0
	}
	return int(r.gpu.Temp)
}

func whole(f func(*reading) int) func(*reading) (string, bool) {
	return func(r *reading) (string, bool) { return strconv.Itoa(f(r)), true }
}

func decimal(f func(*reading) float64) func(*reading) (string, bool) {
	return func(r *reading) (string, bool) { return strconv.FormatFloat(f(r), 'f', 6, 64), true }
}

const gauge, counter = "gauge", "counter"

// families in the order of the exporter's counter file.
var families = []family{
	{"DCGM_FI_DEV_SM_CLOCK", gauge, "SM clock frequency (in MHz).", whole(func(r *reading) int { return r.gpu.SMClock })},
	{"DCGM_FI_DEV_MEM_CLOCK", gauge, "Memory clock frequency (in MHz).", whole(func(r *reading) int { return r.gpu.MemClock })},
	{"DCGM_FI_DEV_MEMORY_TEMP", gauge, "Memory temperature (in C).", whole(func(r *reading) int { return int(r.gpu.MemTemp) })},
	{"DCGM_FI_DEV_GPU_TEMP", gauge, "GPU temperature (in C).", whole(temperature)},
	{"DCGM_FI_DEV_POWER_USAGE", gauge, "Power draw (in W).", decimal(func(r *reading) float64 { return r.gpu.Power })},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", counter, "Total energy consumption since boot (in mJ).", whole(func(r *reading) int { return int(r.gpu.Energy * 1000) })},
	{"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", counter, "Total number of PCIe retries.", whole(func(*reading) int { return 0 })},
	{"DCGM_FI_DEV_GPU_UTIL", gauge, "GPU utilization (in %).", whole(func(r *reading) int { return r.gpu.Util })},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", gauge, "Memory utilization (in %).", whole(func(r *reading) int { return r.gpu.Util * 45 / 100 })},
	{"DCGM_FI_DEV_ENC_UTIL", gauge, "Encoder utilization (in %).", whole(func(*reading) int { return 0 })},
	{"DCGM_FI_DEV_DEC_UTIL", gauge, "Decoder utilization (in %).", whole(func(*reading) int { return 0 })},
	{"DCGM_FI_DEV_XID_ERRORS", gauge, "Value of the last XID error encountered.", lastXID},
	{"DCGM_FI_DEV_FB_FREE", gauge, "Framebuffer memory free (in MiB).", whole(func(r *reading) int {
		return r.node.Hardware.GPU.MemoryMiB - r.node.Hardware.GPU.ReservedMiB - r.gpu.MemUsedMiB
	})},
	{"DCGM_FI_DEV_FB_USED", gauge, "Framebuffer memory used (in MiB).", whole(func(r *reading) int { return r.gpu.MemUsedMiB })},
	{"DCGM_FI_DEV_FB_RESERVED", gauge, "Framebuffer memory reserved (in MiB).", whole(func(r *reading) int { return r.node.Hardware.GPU.ReservedMiB })},
	{"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", counter, "Total number of NVLink bandwidth counters for all lanes.", whole(func(*reading) int { return 0 })},
	{"DCGM_FI_DEV_VGPU_LICENSE_STATUS", gauge, "vGPU License status", whole(func(*reading) int { return 0 })},
	{"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", counter, "Number of remapped rows for uncorrectable errors", whole(func(r *reading) int { return r.gpu.Remap.Uncorrectable })},
	{"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", counter, "Number of remapped rows for correctable errors", whole(func(r *reading) int { return r.gpu.Remap.Correctable })},
	{"DCGM_FI_DEV_ROW_REMAP_FAILURE", gauge, "Whether remapping of rows has failed", whole(remapFailure)},
	{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", gauge, "Ratio of time the graphics engine is active.", decimal((*reading).busy)},
	{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", gauge, "Ratio of cycles the tensor (HMMA) pipe is active.", decimal(func(r *reading) float64 { return 0.55 * r.busy() })},
	{"DCGM_FI_PROF_DRAM_ACTIVE", gauge, "Ratio of cycles the device memory interface is active sending or receiving data.", decimal(func(r *reading) float64 { return 0.4 * r.busy() })},
	{"DCGM_FI_PROF_PCIE_TX_BYTES", gauge, "The rate of data transmitted over the PCIe bus - including both protocol headers and data payloads - in bytes per second.", whole(func(r *reading) int { return 11200 + int(2.1e9*r.busy()) })},
	{"DCGM_FI_PROF_PCIE_RX_BYTES", gauge, "The rate of data received over the PCIe bus - including both protocol headers and data payloads - in bytes per second.", whole(func(r *reading) int { return 9400 + int(2.3e9*r.busy()) })},
}

// lastXID is not exported for a GPU without an XID.
func lastXID(r *reading) (string, bool) {
	for _, x := range slices.Backward(r.node.XIDs) {
		if sameBus(x.BusID, r.gpu.BusID) {
			return strconv.Itoa(x.Code), true
		}
	}
	return "", false
}

func remapFailure(r *reading) int {
	if r.gpu.Remap.Failure {
		return 1
	}
	return 0
}
