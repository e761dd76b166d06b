package vulkansys

import (
	"testing"
	"unsafe"
)

// TestLayout compares structs with vulkan_core.h, as a C compiler lays it out for x86-64.
func TestLayout(t *testing.T) {
	for name, c := range map[string][2]uintptr{
		"VkPhysicalDeviceProperties2":                        {unsafe.Sizeof(Properties2{}), 840},
		"VkPhysicalDeviceLimits":                             {unsafe.Sizeof(Limits{}), 504},
		"maxPushConstantsSize":                               {unsafe.Offsetof(Limits{}.PushConstants), 32},
		"VkPhysicalDeviceWorkgroupMemoryExplicitLayout":      {unsafe.Sizeof(SharedLayoutFeatures{}), 32},
		"VkPhysicalDeviceSubgroupSizeControlProperties":      {unsafe.Sizeof(SubgroupSizes{}), 32},
		"requiredSubgroupSizeStages":                         {unsafe.Offsetof(SubgroupSizes{}.Stages), 28},
		"VkPhysicalDeviceSubgroupSizeControlFeatures":        {unsafe.Sizeof(SizeControlFeatures{}), 24},
		"VkPipelineShaderStageRequiredSubgroupSizeCreateInf": {unsafe.Sizeof(SubgroupSize{}), 24},
		"VkExtensionProperties":                              {unsafe.Sizeof(ExtensionProperties{}), 260},
		"maxComputeSharedMemorySize":                         {unsafe.Offsetof(Limits{}.SharedMemory), 216},
		"timestampPeriod":                                    {unsafe.Offsetof(Limits{}.TimestampPeriod), 424},
		"VkQueryPoolCreateInfo":                              {unsafe.Sizeof(QueryPoolInfo{}), 32},
		"queryType":                                          {unsafe.Offsetof(QueryPoolInfo{}.Kind), 20},
		"limits":                                             {unsafe.Offsetof(Properties2{}.Limits), 16 + 296},
		"VkPhysicalDeviceFeatures2":                          {unsafe.Sizeof(Features2{}), 16 + 220 + 4},
		"shaderFloat64":                                      {unsafe.Offsetof(Features2{}.Float64), 16 + 4*39},
		"VkPhysicalDeviceVulkan11Features":                   {unsafe.Sizeof(Features11{}), 64},
		"VkPhysicalDeviceVulkan12Features":                   {unsafe.Sizeof(Features12{}), 208},
		"VkPhysicalDeviceVulkan12Features.storageBuffer8":    {unsafe.Offsetof(Features12{}.Storage8), 24},
		"VkPhysicalDeviceVulkan12Features.Int64Atomics":      {unsafe.Offsetof(Features12{}.BufferAtomics64), 36},
		"VkPhysicalDeviceVulkan12Features.SharedInt64Atom.":  {unsafe.Offsetof(Features12{}.SharedAtomics64), 40},
		"VkPhysicalDeviceVulkan12Features.shaderFloat16":     {unsafe.Offsetof(Features12{}.Float16), 44},
		"VkPhysicalDeviceVulkan12Features.bufferDeviceAddr.": {unsafe.Offsetof(Features12{}.Addresses), 168},
		"VkPhysicalDeviceFloatControlsProperties":            {unsafe.Sizeof(FloatControls{}), 88},
		"shaderDenormPreserveFloat16":                        {unsafe.Offsetof(FloatControls{}.DenormPreserve), 36},
		"shaderRoundingModeRTEFloat16":                       {unsafe.Offsetof(FloatControls{}.RoundingToNearest), 60},
		"VkPhysicalDeviceDriverProperties":                   {unsafe.Sizeof(DriverProperties{}), 536},
		"driverInfo":                                         {unsafe.Offsetof(DriverProperties{}.Version), 276},
		"VkPhysicalDeviceMemoryProperties":                   {unsafe.Sizeof(MemoryProperties{}), 520},
		"memoryHeaps":                                        {unsafe.Offsetof(MemoryProperties{}.Heaps), 264},
		"VkComputePipelineCreateInfo":                        {unsafe.Sizeof(PipelineInfo{}), 96},
		"VkSubmitInfo":                                       {unsafe.Sizeof(SubmitInfo{}), 72},
		"VkBufferCreateInfo":                                 {unsafe.Sizeof(BufferInfo{}), 56},
		"VkDeviceCreateInfo":                                 {unsafe.Sizeof(DeviceInfo{}), 72},
		"VkQueueFamilyProperties":                            {unsafe.Sizeof(QueueFamily{}), 24},
		"VkMemoryAllocateInfo":                               {unsafe.Sizeof(MemoryInfo{}), 32},
		"VkPipelineLayoutCreateInfo":                         {unsafe.Sizeof(LayoutInfo{}), 48},
		"VkShaderModuleCreateInfo":                           {unsafe.Sizeof(ShaderInfo{}), 40},
		"VkDeviceQueueCreateInfo":                            {unsafe.Sizeof(QueueInfo{}), 40},
		"VkCommandBufferBeginInfo":                           {unsafe.Sizeof(BeginInfo{}), 32},
		"VkMemoryBarrier":                                    {unsafe.Sizeof(MemoryBarrier{}), 24},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}

// TestResult tests the names of results.
func TestResult(t *testing.T) {
	for r, want := range map[Result]string{
		InitializationFail: "VK_ERROR_INITIALIZATION_FAILED", DeviceLost: "VK_ERROR_DEVICE_LOST", -13: "VK_ERROR_UNKNOWN", -12: "VkResult -12", -1000001004: "VkResult -1000001004", 5: "VkResult 5",
	} {
		if got := r.String(); got != want {
			t.Errorf("%d: %s, want %s", int32(r), got, want)
		}
	}
}
