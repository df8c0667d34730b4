################################################################################
#
# sluice
#
################################################################################

# The checkout that this tree is in.
SLUICE_VERSION = checkout
SLUICE_SITE = $(realpath $(BR2_EXTERNAL_SLUICE_PATH)/../..)
SLUICE_SITE_METHOD = local
SLUICE_LICENSE = Apache-2.0
SLUICE_LICENSE_FILES = LICENSE
SLUICE_DEPENDENCIES = \
	host-pkgconf jansson jpeg-turbo libmicrohttpd libpng libseccomp libuv libyaml libzip \
	opencl-headers sqlite zlib
SLUICE_CONF_OPTS = -Dtests=false -Drelay=disabled

# Clang itself: Buildroot's wrapper would add this board's processor to the levels that kernels are
# compiled for.
ifeq ($(BR2_PACKAGE_SLUICE_NATIVE),y)
SLUICE_DEPENDENCIES += host-clang
SLUICE_CONF_OPTS += -Dnative=enabled --native-file=$(@D)/clang.ini
define SLUICE_NAME_CLANG
	printf "[binaries]\nclang = '%s'\n" $(HOST_DIR)/bin/clang.br_real > $(@D)/clang.ini
endef
SLUICE_PRE_CONFIGURE_HOOKS += SLUICE_NAME_CLANG
else
SLUICE_CONF_OPTS += -Dnative=disabled
endif

ifeq ($(BR2_PACKAGE_TIFF),y)
SLUICE_DEPENDENCIES += tiff
SLUICE_CONF_OPTS += -Dtiff=enabled
else
SLUICE_CONF_OPTS += -Dtiff=disabled
endif

ifeq ($(BR2_PACKAGE_WEBP)$(BR2_PACKAGE_WEBP_MUX),yy)
SLUICE_DEPENDENCIES += webp
SLUICE_CONF_OPTS += -Dwebp=enabled
else
SLUICE_CONF_OPTS += -Dwebp=disabled
endif

ifeq ($(BR2_PACKAGE_SYSTEMD),y)
SLUICE_DEPENDENCIES += systemd
SLUICE_CONF_OPTS += -Dlibsystemd=enabled -Dsystemd_unit_dir=/usr/lib/systemd/system
else
SLUICE_CONF_OPTS += -Dlibsystemd=disabled
endif

define SLUICE_USERS
	sluice -1 sluice -1 * /var/lib/sluice - video,render image processing
endef

define SLUICE_PERMISSIONS
	/var/lib/sluice d 750 sluice sluice - - - - -
	/var/lib/sluice/in d 3770 sluice sluice - - - - -
	/var/lib/sluice/out d 2770 sluice sluice - - - - -
endef

$(eval $(meson-package))
