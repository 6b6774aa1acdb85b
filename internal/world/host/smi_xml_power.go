package host

import (
	"cmp"

	"github.com/firstlight/firstlight/internal/world"
)

func (c *call) thermalXML(x *xmlDoc, g world.GPU) {
	hw := c.node.Hardware.GPU
	x.in("temperature", func() {
		x.el("gpu_temp", "%.0f C", g.Temp)
		x.el("gpu_temp_tlimit", "%.0f C", float64(hw.SlowdownTemp)-g.Temp)
		x.el("gpu_temp_max_tlimit_threshold", "-8 C")
		x.el("gpu_temp_slow_tlimit_threshold", "-2 C")
		x.el("gpu_temp_max_gpu_tlimit_threshold", "0 C")
		x.na("gpu_target_temperature")
		x.el("memory_temp", "%.0f C", g.MemTemp)
		x.el("gpu_temp_max_mem_tlimit_threshold", "0 C")
	})
	x.in("supported_gpu_target_temp", func() { x.na("gpu_target_temp_min", "gpu_target_temp_max") })
}

func (c *call) powerXML(x *xmlDoc, g world.GPU) {
	hw := c.node.Hardware.GPU
	x.in("gpu_power_readings", func() {
		x.el("power_state", "P0")
		x.el("average_power_draw", "%.2f W", g.Power)
		x.el("instant_power_draw", "%.2f W", g.Power*1.005)
		x.el("current_power_limit", "%.2f W", g.PowerLimit)
		x.el("requested_power_limit", "%.2f W", g.PowerLimit)
		x.el("default_power_limit", "%.2f W", hw.TDPWatts)
		x.el("min_power_limit", "%.2f W", hw.MinLimitWatts)
		x.el("max_power_limit", "%.2f W", hw.MaxLimitWatts)
	})
	x.in("gpu_memory_power_readings", func() {
		x.el("average_power_draw", "%.2f W", 0.48*g.Power)
		x.na("instant_power_draw")
	})
	x.in("module_power_readings", func() {
		x.el("power_state", "P0")
		x.na("average_power_draw", "instant_power_draw", "current_power_limit", "requested_power_limit",
			"default_power_limit", "min_power_limit", "max_power_limit")
	})
	x.na("power_smoothing")
	x.in("power_profiles", func() { x.na("power_profile_requested_profiles", "power_profile_enforced_profiles") })
}

func (c *call) clocksXML(x *xmlDoc, g world.GPU) {
	hw := c.node.Hardware.GPU
	clocks := func(name string, sm, mem, video int) {
		x.in(name, func() {
			x.el("graphics_clock", "%d MHz", sm)
			x.el("sm_clock", "%d MHz", sm)
			x.el("mem_clock", "%d MHz", mem)
			x.el("video_clock", "%d MHz", video)
		})
	}
	apps := func(name string, sm int) {
		x.in(name, func() {
			x.el("graphics_clock", "%d MHz", sm)
			x.el("mem_clock", "%d MHz", g.MemClock)
		})
	}
	clocks("clocks", g.SMClock, g.MemClock, hw.VideoClock/2)
	apps("applications_clocks", g.AppSMClock)
	apps("default_applications_clocks", g.MaxSMClock)
	x.in("deferred_clocks", func() { x.na("mem_clock") })
	clocks("max_clocks", g.MaxSMClock, g.MemClock, hw.VideoClock)
	x.in("max_customer_boost_clocks", func() { x.el("graphics_clock", "%d MHz", g.MaxSMClock) })
	x.in("clock_policy", func() { x.na("auto_boost", "auto_boost_default") })
}

func (c *call) fabricXML(x *xmlDoc, g world.GPU) {
	x.in("fabric", func() {
		if c.node.Hardware.GPU.NVLinks == 0 {
			x.na("state", "status", "cliqueId", "clusterUuid")
			x.in("health", func() { x.na("bandwidth") })
			return
		}
		if c.node.FabricManager.NeverStarted {
			x.el("state", "In Progress")
			x.na("status")
		} else {
			x.el("state", "Completed")
			x.el("status", "Success")
		}
		if c.node.NVLinkCluster == "" {
			x.el("cliqueId", "0")
			x.el("clusterUuid", "00000000-0000-0000-0000-000000000000")
		} else {
			x.el("cliqueId", "32766") // the default partition of a rack
			x.el("clusterUuid", "%s", c.node.NVLinkCluster)
		}
		x.in("health", func() {
			for _, name := range []string{"summary", "bandwidth", "route_recovery_in_progress", "route_unhealthy", "access_timeout_recovery", "incorrect_configuration"} {
				x.el(name, "%s", cmp.Or(g.FabricHealth[name], "N/A"))
			}
		})
	})
}

func (c *call) supportedClocksXML(x *xmlDoc, g world.GPU) {
	x.in("supported_clocks", func() {
		x.in("supported_mem_clock", func() {
			x.el("value", "%d MHz", g.MemClock)
			for mhz := g.MaxSMClock; mhz >= c.node.Hardware.GPU.IdleSMClock; mhz -= 15 {
				x.el("supported_graphics_clock", "%d MHz", mhz)
			}
		})
	})
}
