from viz_core.ui.page import show
from viz_core.ui.scenes import home_axes

show(__file__, [home_axes.SCENE])
