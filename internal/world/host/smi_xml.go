package host

import (
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// smiXML prints nvidia-smi -q -x of driver 580 (DTD v13).
func (c *call) smiXML(gpus []world.GPU) {
	x := &xmlDoc{c: c}
	x.line(`<?xml version="1.0" ?>`)
	x.line(`<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">`)
	x.in("nvidia_smi_log", func() {
		x.el("timestamp", "%s", c.state.Now.UTC().Format("Mon Jan _2 15:04:05 2006"))
		x.el("driver_version", "%s", c.node.Driver)
		x.el("cuda_version", "%s", c.node.CUDA)
		x.el("attached_gpus", "%d", len(gpus))
		for i, g := range gpus {
			x.line(`<gpu id="%s">`, longBus(g.BusID))
			x.depth++
			c.gpuXML(x, i, g)
			x.depth--
			x.line("</gpu>")
		}
	})
}

func (c *call) gpuXML(x *xmlDoc, index int, g world.GPU) {
	c.identityXML(x, index, g)
	c.pciXML(x, g)
	x.na("fan_speed")
	x.el("performance_state", "P0")
	c.reasonsXML(x, g)
	x.el("sparse_operation_mode", "Disabled")
	c.memoryXML(x, g)
	x.el("compute_mode", "Default")
	x.in("utilization", func() {
		if c.node.MIG != "" {
			x.na("gpu_util", "memory_util", "encoder_util", "decoder_util", "jpeg_util", "ofa_util")
			return
		}
		x.el("gpu_util", "%d %%", g.Util)
		x.el("memory_util", "%d %%", g.Util/2)
		for _, n := range []string{"encoder_util", "decoder_util", "jpeg_util", "ofa_util"} {
			x.el(n, "0 %%")
		}
	})
	for _, n := range []string{"encoder_stats", "fbc_stats"} {
		x.in(n, func() {
			x.el("session_count", "0")
			x.el("average_fps", "0")
			x.el("average_latency", "0")
		})
	}
	x.in("dram_encryption_mode", func() { x.na("current_dram_encryption", "pending_dram_encryption") })
	c.eccXML(x, g)
	c.thermalXML(x, g)
	c.powerXML(x, g)
	c.clocksXML(x, g)
	c.fabricXML(x, g)
	c.supportedClocksXML(x, g)
	x.in("processes", func() {
		if g.Occupant.UID == "" || g.MemUsedMiB <= idleMemoryMiB {
			return
		}
		x.in("process_info", func() {
			x.na("gpu_instance_id", "compute_instance_id")
			x.el("pid", "%d", 20000+index)
			x.el("type", "C")
			x.el("process_name", "%s", g.Occupant.Container)
			x.el("used_memory", "%d MiB", g.MemUsedMiB)
		})
	})
	x.in("accounted_processes", func() {})
	x.in("capabilities", func() { x.el("egm", "disabled") })
}

func (c *call) identityXML(x *xmlDoc, index int, g world.GPU) {
	hw := c.node.Hardware.GPU
	x.el("product_name", "%s", hw.Product)
	x.el("product_brand", "NVIDIA")
	x.el("product_architecture", "%s", hw.Architecture)
	x.el("display_mode", "Requested functionality has been deprecated")
	x.el("display_attached", "Yes")
	x.el("display_active", "Disabled")
	x.el("persistence_mode", "Enabled")
	x.el("addressing_mode", "HMM")
	x.in("mig_mode", func() {
		x.el("current_mig", "%s", c.migMode())
		x.el("pending_mig", "%s", c.migMode())
	})
	c.migXML(x)
	x.el("accounting_mode", "Disabled")
	x.el("accounting_mode_buffer_size", "4000")
	x.in("driver_model", func() { x.na("current_dm", "pending_dm") })
	x.el("serial", "%s", g.Serial)
	x.el("uuid", "%s", g.UUID)
	x.el("minor_number", "%d", g.Index)
	x.el("vbios_version", "%s", g.VBIOS)
	x.el("multigpu_board", "No")
	x.el("board_id", "0x%s00", strings.ToLower(g.BusID[5:7]))
	x.el("board_part_number", "692-2G520-0200-000")
	x.el("gpu_part_number", "%s", hw.PartNumber)
	x.na("gpu_fru_part_number")
	x.in("platformInfo", func() {
		x.na("chassis_serial_number", "slot_number", "tray_index", "host_id", "peer_type")
		x.el("module_id", "%d", index+1)
		x.na("gpu_fabric_guid")
	})
	x.in("inforom_version", func() {
		x.el("img_version", "G520.0200.00.05")
		x.el("oem_object", "2.1")
		x.el("ecc_object", "7.16")
		x.na("pwr_object")
	})
	x.in("inforom_bbx_flush", func() {
		x.el("latest_timestamp", "%s", c.state.Booted.UTC().Format("2006/01/02 15:04:05.000"))
		x.el("latest_duration", "93088 us")
	})
	x.in("gpu_operation_mode", func() { x.na("current_gom", "pending_gom") })
	x.el("c2c_mode", "Disabled")
	x.in("gpu_virtualization_mode", func() {
		x.el("virtualization_mode", "None")
		x.na("host_vgpu_mode", "vgpu_heterogeneous_mode")
	})
	x.el("gpu_recovery_action", "%s", recovery(g))
	x.el("gsp_firmware_version", "%s", c.node.Driver)
	x.in("ibmnpu", func() { x.na("relaxed_ordering_mode") })
}

// recovery is the driver's recovery action for the GPU.
func recovery(g world.GPU) string {
	if g.Remap.Pending || g.Volatile.DRAMUncorrectable+g.Volatile.SRAMUncorrectable > 0 {
		return "GPU Reset Required"
	}
	return "None"
}

func (c *call) migMode() string {
	if c.node.MIG != "" {
		return "Enabled"
	}
	return "Disabled"
}

// migXML lists the MIG devices of a GPU. GPU instances of one slice have the numbers 7 to 13.
func (c *call) migXML(x *xmlDoc) {
	x.in("mig_devices", func() {
		if c.node.MIG == "" {
			x.line("None")
			return
		}
		for i := range world.MIGDevices {
			x.in("mig_device", func() {
				x.el("index", "%d", i)
				x.el("gpu_instance_id", "%d", world.MIGDevices+i)
				x.el("compute_instance_id", "0")
				x.in("device_attributes", func() {
					x.in("shared", func() {
						x.el("multiprocessor_count", "%d", world.MIGProcessors)
						x.el("copy_engine_count", "1")
						x.el("encoder_count", "0")
						x.el("decoder_count", "1")
						x.el("ofa_count", "0")
						x.el("jpg_count", "1")
					})
				})
				x.in("fb_memory_usage", func() {
					x.el("total", "%d MiB", world.MIGMemoryMiB)
					x.el("reserved", "0 MiB")
					x.el("used", "0 MiB")
					x.el("free", "%d MiB", world.MIGMemoryMiB)
				})
			})
		}
	})
}

func (c *call) pciXML(x *xmlDoc, g world.GPU) {
	hw := c.node.Hardware.GPU
	x.in("pci", func() {
		x.el("pci_bus", "%s", g.BusID[5:7])
		x.el("pci_device", "%s", g.BusID[8:10])
		x.el("pci_domain", "%s", g.BusID[:4])
		x.el("pci_base_class", "3")
		x.el("pci_sub_class", "2")
		x.el("pci_device_id", "%s10DE", hw.DeviceID)
		x.el("pci_bus_id", "%s", longBus(g.BusID))
		x.el("pci_sub_system_id", "16C110DE")
		x.in("pci_gpu_link_info", func() {
			x.in("pcie_gen", func() {
				x.el("max_link_gen", "%d", hw.PCIeGen)
				x.el("current_link_gen", "%d", g.PCIeGen)
				x.el("device_current_link_gen", "%d", g.PCIeGen)
				x.el("max_device_link_gen", "%d", hw.PCIeGen)
				x.na("max_host_link_gen")
			})
			x.in("link_widths", func() {
				x.el("max_link_width", "%dx", hw.PCIeWidth)
				x.el("current_link_width", "%dx", g.PCIeWidth)
			})
		})
		x.in("pci_bridge_chip", func() { x.na("bridge_chip_type", "bridge_chip_fw") })
		x.el("replay_counter", "0")
		x.el("replay_rollover_counter", "0")
		x.el("tx_util", "502 KB/s")
		x.el("rx_util", "578 KB/s")
		x.na("atomic_caps_outbound", "atomic_caps_inbound")
	})
}

func (c *call) reasonsXML(x *xmlDoc, g world.GPU) {
	x.in("clocks_event_reasons", func() {
		r := g.Reasons
		for _, v := range []struct {
			name string
			on   bool
		}{
			{"gpu_idle", r.Idle}, {"applications_clocks_setting", r.ApplicationsClocks}, {"sw_power_cap", r.SWPowerCap},
			{"hw_slowdown", r.HWSlowdown}, {"hw_thermal_slowdown", r.HWThermal}, {"hw_power_brake_slowdown", r.HWPowerBrake},
			{"sync_boost", false}, {"sw_thermal_slowdown", r.SWThermal}, {"display_clocks_setting", false},
		} {
			x.el("clocks_event_reason_"+v.name, "%s", active(v.on))
		}
	})
	x.in("clocks_event_reasons_counters", func() {
		for _, v := range []struct {
			name string
			held time.Duration
		}{
			{"sw_power_cap", g.SWPower}, {"sync_boost", 0}, {"sw_therm_slowdown", g.SWThermal},
			{"hw_therm_slowdown", g.HWThermal}, {"hw_power_brake", g.HWPowerBrake},
		} {
			if name := "clocks_event_reasons_counters_" + v.name; g.NoThrottleCounters {
				x.na(name)
			} else {
				x.el(name, "%d us", v.held.Microseconds())
			}
		}
	})
}

func (c *call) memoryXML(x *xmlDoc, g world.GPU) {
	hw := c.node.Hardware.GPU
	usage := func(name string, total, reserved, used int) {
		x.in(name, func() {
			x.el("total", "%d MiB", total)
			if reserved > 0 {
				x.el("reserved", "%d MiB", reserved)
			}
			x.el("used", "%d MiB", used)
			x.el("free", "%d MiB", total-reserved-used)
		})
	}
	usage("fb_memory_usage", hw.MemoryMiB, hw.ReservedMiB, g.MemUsedMiB)
	usage("bar1_memory_usage", 131072, 0, 1)
	usage("cc_protected_memory_usage", 0, 0, 0)
}

func (c *call) eccXML(x *xmlDoc, g world.GPU) {
	x.in("ecc_mode", func() {
		x.el("current_ecc", "%s", enabled(g.ECCMode))
		x.el("pending_ecc", "%s", enabled(g.ECCMode))
	})
	counts := func(e world.ECC) {
		x.el("sram_correctable", "%d", e.SRAMCorrectable)
		x.el("sram_uncorrectable_parity", "%d", e.SRAMUncorrectable)
		x.el("sram_uncorrectable_secded", "0")
		x.el("dram_correctable", "%d", e.DRAMCorrectable)
		x.el("dram_uncorrectable", "%d", e.DRAMUncorrectable)
	}
	x.in("ecc_errors", func() {
		x.in("volatile", func() { counts(g.Volatile) })
		x.in("aggregate", func() {
			counts(g.Aggregate)
			x.el("sram_threshold_exceeded", "No")
		})
		x.in("aggregate_uncorrectable_sram_sources", func() {
			x.el("sram_l2", "%d", g.Aggregate.SRAMUncorrectable)
			for _, n := range []string{"sram_sm", "sram_microcontroller", "sram_pcie", "sram_other"} {
				x.el(n, "0")
			}
		})
		x.el("channel_repair_pending", "No")
		x.el("tpc_repair_pending", "No")
	})
	x.in("retired_pages", func() {
		for _, n := range []string{"multiple_single_bit_retirement", "double_bit_retirement"} {
			x.in(n, func() { x.na("retired_count", "retired_pagelist") })
		}
		x.na("pending_blacklist", "pending_retirement")
	})
	x.in("remapped_rows", func() {
		used := g.Remap.Correctable + g.Remap.Uncorrectable
		x.el("remapped_row_corr", "%d", g.Remap.Correctable)
		x.el("remapped_row_unc", "%d", g.Remap.Uncorrectable)
		x.el("remapped_row_pending", "%s", yesNo(g.Remap.Pending))
		x.el("remapped_row_failure", "%s", yesNo(g.Remap.Failure))
		x.in("row_remapper_histogram", func() {
			x.el("row_remapper_histogram_max", "%d bank(s)", c.node.Hardware.GPU.RemapBanks-used)
			x.el("row_remapper_histogram_high", "%d bank(s)", used)
			for _, n := range []string{"partial", "low", "none"} {
				x.el("row_remapper_histogram_"+n, "0 bank(s)")
			}
		})
	})
}
