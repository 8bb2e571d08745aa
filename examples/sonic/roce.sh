# Settings of server1, as they were found.
mlnx_qos -i eth0 --trust dscp --pfc 0,0,0,1,1,0,0,0
cma_roce_tos -d mlx5_0 -t 14
