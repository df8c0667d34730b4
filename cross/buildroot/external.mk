include $(sort $(wildcard $(BR2_EXTERNAL_SLUICE_PATH)/package/*/*.mk))
